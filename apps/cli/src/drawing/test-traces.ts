import type { Json, JsonObject } from '@holdfast/core';
import type { NodeTrace, Plan, PlanTrace } from '@holdfast/orchestrator';
import type { NodeId, NodeKind, OnFail } from '@holdfast/orchestrator/internal';
import fc from 'fast-check';

export const begun: number = Date.UTC(2026, 4, 17, 9, 30);

export interface TestNode extends Partial<Omit<NodeTrace, 'node' | 'dependsOn'>> {
  readonly id: NodeId;
  readonly needs?: readonly NodeId[];
  readonly inputs?: JsonObject;
  readonly onFail?: OnFail;
  /** Milliseconds after the start of the run: from, to. */
  readonly at?: readonly [number, number] | undefined;
}

/** A trace of nodes that are `ok` by default; the last one is the final node. */
export function traceOf(nodes: readonly TestNode[], rest: Partial<PlanTrace> = {}): PlanTrace {
  const final = nodes.at(-1)?.id ?? 0;
  const traces = nodes.map(toTrace);
  return {
    sessionId: 'session-1',
    run: 12,
    request: undefined,
    plan: planOf(nodes, final),
    digest: 'ab'.repeat(32),
    status: traces.every(({ kind }) => kind === 'ok') ? 'succeeded' : 'partial',
    nodes: traces,
    output: traces.at(-1)?.kind === 'ok' ? traces.at(-1)?.value : undefined,
    pending: [],
    startedAtMs: begun,
    endedAtMs: begun + Math.max(0, ...nodes.map(({ at }) => at?.[1] ?? 0)),
    ...rest,
  };
}

function planOf(nodes: readonly TestNode[], final: NodeId): Plan {
  return {
    version: 1,
    status: 'success',
    nodes: nodes.map(({ id, tool = 'a', needs = [], inputs = {}, purpose, onFail = 'halt' }) => ({
      id,
      tool,
      inputs,
      depends_on: needs,
      retry: 0,
      timeout: 60,
      on_fail: onFail,
      metadata: purpose === undefined ? {} : { purpose },
    })),
    final_output_node: final,
  };
}

function toTrace({ id, needs = [], inputs, onFail: _onFail, at, ...rest }: TestNode): NodeTrace {
  const kind = rest.kind ?? 'ok';
  const ran = at !== undefined;
  return {
    node: id,
    tool: 'a',
    kind,
    code: kind === 'ok' ? undefined : `test.${kind}`,
    message: kind === 'ok' ? '' : `It ended as ${kind}.`,
    value: null,
    purpose: undefined,
    dependsOn: needs,
    because: [],
    callId: ran ? `plan_12_${id}` : undefined,
    input: inputs,
    attempts: ran ? 1 : 0,
    retries: [],
    decisions: [],
    approval: undefined,
    startedAtMs: at === undefined ? undefined : begun + at[0],
    endedAtMs: at === undefined ? undefined : begun + at[1],
    durationMs: at === undefined ? undefined : at[1] - at[0],
    ...rest,
  };
}

/** A partial run: one of two searches failed, and the report was still written. */
export const partialTrace: PlanTrace = traceOf(
  [
    {
      id: 0,
      tool: 'search_news',
      purpose: 'Latest news on AMD',
      inputs: { query: 'AMD AI chips', top: 5 },
      at: [0, 820],
      value: { count: 2, titles: ['AMD ships', 'AMD grows'] },
      onFail: 'continue',
    },
    {
      id: 1,
      tool: 'search_news',
      purpose: 'Latest news on Intel',
      inputs: { query: 'Intel AI chips', top: 5 },
      kind: 'failed',
      code: 'tool.failed',
      message: 'The server answered 503.',
      at: [0, 4100],
      attempts: 3,
      retries: [
        { code: 'tool.failed', message: 'The server answered 503.', atMs: begun + 700 },
        { code: 'tool.failed', message: 'The server answered 503.', atMs: begun + 2200 },
      ],
      onFail: 'continue',
    },
    {
      id: 2,
      tool: 'summarise',
      purpose: 'Compare the two',
      needs: [0, 1],
      inputs: { text: 'AMD ships\n\n[step 1 failed: The server answered 503.]' },
      at: [4900, 6100],
      value: 'AMD ships and grows.',
      decisions: [{ policy: 'host/call-budget', type: 'allow' }],
    },
    {
      id: 'report',
      tool: 'write_report',
      purpose: 'What the reader gets',
      needs: [2],
      inputs: { heading: 'AMD and Intel', path: 'report.md' },
      at: [6100, 21_400],
      durationMs: 900,
      value: { path: 'report.md', bytes: 1204 },
      decisions: [{ policy: 'holdfast/dangerous', type: 'ask', reason: 'It writes a file.' }],
      approval: { type: 'approve', by: 'ada@example.com' },
    },
  ],
  { request: 'Compare the AI chip strategies of AMD and Intel' },
);

/** Hostile names, ids, messages and values. */
export const hostileTexts: readonly string[] = [
  '"]; click n0 "javascript:alert(1)"\nend',
  '</script><script>alert(1)</script>',
  `' onmouseover='alert(1)`,
  '" onload="alert(1)" x="',
  '<!-- --> <![CDATA[ ]]> <svg onload=alert(1)>',
  '&quot;&#60;b&#62;',
  'javascript:alert(1)',
  '\u202Egpj.exe\u2066',
  '\x1b[31m\x00\x07',
  '\uD800 half',
  'end',
  'subgraph end',
  '`**bold**`',
  '1. one',
  '- item',
  '%%{init: {"securityLevel": "loose"}}%%',
  '#quot;#35;',
  'style x:#35;',
  '👩‍🚀 é ﷽',
  '__proto__',
  '{{STEPS.0}}',
  ']]--x',
  '\u2028\u2029\r\n\t',
];

/** A trace in which every text is `text` and every node has all fields. */
export function traceFull(text: string): PlanTrace {
  const full: Partial<TestNode> = {
    tool: text,
    purpose: text,
    message: text,
    callId: text,
    inputs: { [text]: text },
    input: { [text]: [text] },
    value: { [text]: text },
    attempts: 2,
    retries: [{ code: text, message: text, atMs: begun + 5 }],
    decisions: [{ policy: text, type: 'deny', reason: text }],
    approval: { type: 'approve', by: text },
    because: ['x'],
    at: [0, 10],
  };
  return traceOf(
    [
      { ...full, id: 'x', kind: 'failed', code: text },
      { ...full, id: text, needs: ['x'] },
    ],
    {
      sessionId: text,
      request: text,
      digest: text,
      output: { [text]: text },
      status: 'suspended',
      pending: [
        {
          callId: text,
          name: text,
          input: { [text]: text },
          dangerous: true,
          asks: [{ policy: text, type: 'ask', reason: text }],
          digest: text,
          toolDigest: text,
          expiresAtMs: begun,
        },
      ],
    },
  );
}

const kinds: readonly NodeKind[] = [
  'ok',
  'failed',
  'invalid',
  'denied',
  'unknown-tool',
  'truncated',
  'timed-out',
  'cancelled',
  'in-doubt',
  'skipped',
  'suspended',
  'running',
  'waiting',
];

const text = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary', maxLength: 30 }), fc.string());
const time = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.constantFrom(-1, 1e308, -1e308, 8.64e15));
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json);

const randomNode = fc.record({
  id: fc.oneof(fc.nat(), fc.stringMatching(/^[A-Za-z][a-z0-9_-]{0,6}$/), text),
  tool: text,
  kind: fc.constantFrom(...kinds),
  needs: fc.array(fc.nat(), { maxLength: 4 }),
  purpose: fc.option(text, { nil: undefined }),
  code: fc.option(text, { nil: undefined }),
  message: text,
  value: json,
  input: fc.option(json, { nil: undefined }),
  at: fc.option(fc.tuple(time, time), { nil: undefined }),
  attempts: fc.nat({ max: 5 }),
  retries: fc.array(fc.record({ code: text, message: text, atMs: time.map((atMs) => begun + atMs) }), { maxLength: 3 }),
  decisions: fc.array(fc.record({ policy: text, type: fc.constantFrom('allow', 'ask', 'deny'), reason: text }), {
    maxLength: 3,
  }),
});

/** Any trace: all kinds, hostile texts, nonsensical times, cyclic and dangling dependencies. */
export function randomTrace(): fc.Arbitrary<PlanTrace> {
  const nodes = fc.uniqueArray(randomNode, { selector: ({ id }) => id, minLength: 1, maxLength: 25 });
  const status = fc.constantFrom<PlanTrace['status']>(
    'succeeded',
    'partial',
    'failed',
    'aborted',
    'suspended',
    'running',
  );
  return fc
    .tuple(nodes, status, fc.option(text, { nil: undefined }), time)
    .map(([drawn, drawnStatus, request, ends]) => {
      const withNeeds = drawn.map((node) => ({
        ...node,
        needs: [...idsOf(drawn, node.needs), 'nowhere'],
      }));
      return traceOf(withNeeds, { status: drawnStatus, request, endedAtMs: begun + ends });
    });
}

function idsOf(nodes: readonly { readonly id: NodeId }[], numbers: readonly number[]): readonly NodeId[] {
  return [...new Set(numbers.map((number) => nodes[number % nodes.length]?.id ?? 0))];
}
