import { defineTool, type Json, type JsonObject, type Tool, toolError } from '@holdfast/core';
import { answerApproval } from '@holdfast/executor';
import { checkPlan, type PlanTrace, readTrace, resumePlan, runPlan, synthesise } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type Session } from '@holdfast/session';
import { manualClock, scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { planToMermaid } from './mermaid.ts';
import { traceToHtml } from './page.ts';
import { traceSummary, traceTable } from './trace-text.ts';

const open: JsonObject = { type: 'object', properties: { text: {} } };

const attack = '"]; <script>alert(1)</script>\n{{STEPS.a}} \u202Eend';

const tools: readonly Tool[] = [
  defineTool({ name: 'attack', description: 'Returns what is hostile.', effects: 'none', execute: () => attack }),
  defineTool({
    name: 'echo',
    description: 'Gives back its text.',
    effects: 'none',
    inputSchema: jsonSchema(open),
    execute: (input) => (input as JsonObject)['text'] ?? null,
  }),
  defineTool({
    name: 'fail',
    description: 'Fails.',
    effects: 'none',
    execute: () => toolError('The server answered 503.', { code: 'server.down' }),
  }),
  defineTool({
    name: 'remove',
    description: 'Removes what there is.',
    effects: 'external',
    dangerous: true,
    execute: () => 'removed',
  }),
];

/** The table of a trace and the lines below it. */
function describeTrace(trace: PlanTrace): string {
  return [...traceTable(trace).rows.map((row) => row.join(' | ')), ...traceSummary(trace)].join('\n');
}

const nodes: readonly JsonObject[] = [
  { id: 'a', tool: 'attack', inputs: {}, metadata: { purpose: attack } },
  { id: 'b', tool: 'fail', inputs: {}, on_fail: 'continue' },
  { id: 'c', tool: 'echo', inputs: { text: 'got {{STEPS.a}} and {{STEPS.b}}' } },
];

async function checked(...all: readonly JsonObject[]): Promise<Parameters<typeof runPlan>[0]> {
  const found = await checkPlan({ nodes: all, final_output_node: all.at(-1)?.['id'] ?? 0 }, { tools });
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  return found.checked;
}

/** All reports of a trace, which must be the same for a run's result and its log. */
async function reportsOf(trace: PlanTrace, session: Session): Promise<readonly string[]> {
  const make = async (from: PlanTrace): Promise<readonly string[]> => [
    describeTrace(from),
    planToMermaid(from.plan, from),
    traceToHtml(from),
    (await synthesise(from)).text,
  ];
  const reports = await make(trace);
  expect(await make(readTrace(session.records()))).toEqual(reports);
  return reports;
}

test('a run is reported alike from its result and from its log, and tool results stay text', async () => {
  const session = createSession({ clock: manualClock() });
  const trace = await runPlan(await checked(...nodes), { tools, session, clock: manualClock() });
  const [text = '', chart = '', page = '', report = ''] = await reportsOf(trace, session);
  expect(text).toMatch(/^b \| fail \| failed \| 1 \| 0 ms \| The server answered 503\. \(server\.down\)$/mu);
  expect(text).toContain('partial: 2 of 3 nodes succeeded');
  expect(chart).toContain('n2[["c echo<br/>ok 0 ms"]]');
  expect(page).not.toContain('<script');
  expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;');
  expect(report).toContain('- b (fail) failed: The server answered 503. (server.down)');
  for (const told of [text, chart, page, report]) expect(told).not.toContain('\u202E');
});

test('a suspended run is reported as waiting, and its answer afterwards', async () => {
  const session = createSession({ clock: manualClock() });
  const options = { tools, session, clock: manualClock() };
  const waiting = await runPlan(
    await checked({ id: 'a', tool: 'echo', inputs: { text: 1 } }, { id: 'gone', tool: 'remove', depends_on: ['a'] }),
    options,
  );
  const [text = '', , page = '', report = ''] = await reportsOf(waiting, session);
  expect(waiting.status).toBe('suspended');
  expect(text).toContain('Waiting for 1 approval. Resume the run after answering.');
  expect(text).toContain('of `remove`, until ');
  expect(page).toContain('Pending questions');
  expect(report).toContain('Status: suspended: 1 of 2 nodes succeeded');
  const [pending] = waiting.pending;
  if (pending === undefined) throw new Error('Nothing is pending.');
  await answerApproval(session, pending.callId, { type: 'approve' }, { by: 'ada', clock: manualClock() });
  const after = await resumePlan(options);
  const [ended = ''] = await reportsOf(after, session);
  expect(ended).toMatch(/^gone \| remove \| ok \| 1 \| 0 ms \| approved by ada$/mu);
  expect(ended).toContain('succeeded: 2 of 2 nodes succeeded');
});

test('a model that writes the report gets results as data', async () => {
  const session = createSession({ clock: manualClock() });
  const trace = await runPlan(await checked(...nodes), { tools, session, clock: manualClock() });
  const model = scriptedModel([{ text: 'All went well.' }]);
  const { text, missing } = await synthesise(trace, { model });
  expect(missing).toEqual(['b']);
  expect(text.split('\n')[0]).toMatch(/^Status: partial: 2 of 3 nodes succeeded/u);
  expect(text).toMatch(/\n- b \(fail\) failed.*\n\nAll went well\.\n$/u);
  const told = model.requests[0]?.messages.at(-1)?.text ?? '';
  expect(JSON.parse(told)).toMatchObject({ nodes: [{ result: attack }, { kind: 'failed' }, { kind: 'ok' }] });
});

const nested = (levels: number): Json => (levels === 0 ? 'end' : { in: nested(levels - 1) });

test.each<Json>([
  { $from: 1, path: 'x', default: { $from: 0 } },
  [{ '{{STEPS.0}}': { $from: 0 } }],
  '</tool_result></result>]]>',
  '$& $1 $` \\u0000 %s `rm`',
  '\u0000\u001b[31m\u202e\ud800 \r\n',
  JSON.parse('{"toString":"x","then":"x","toJSON":"x","constructor":{"prototype":{"polluted":true}}}') as Json,
  nested(60),
])('%j is shown as text in every view', async (value) => {
  const returning = defineTool({ name: 'attack', description: 'Returns it.', effects: 'none', execute: () => value });
  const found = await checkPlan({ nodes: [{ id: 0, tool: 'attack' }], final_output_node: 0 }, { tools: [returning] });
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  const trace = await runPlan(found.checked, { tools: [returning], session: createSession() });
  const page = traceToHtml(trace);
  expect(page).not.toMatch(/<script|<\/tool_result>|\p{Bidi_Control}/u);
  for (const text of [describeTrace(trace), planToMermaid(trace.plan, trace), (await synthesise(trace)).text]) {
    expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
    expect(text.length + page.length).toBeLessThan(200_000);
  }
});
