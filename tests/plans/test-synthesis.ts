import type { Json, ModelRequest } from '@holdfast/core';
import type { NodeTrace, PlanTrace } from '@holdfast/orchestrator';

export interface TestNode extends Partial<NodeTrace> {
  readonly node: NodeTrace['node'];
}

/** A trace of nodes that are `ok` with the value 1 unless they say otherwise; the last one is the final one. */
export function traceOf(nodes: readonly TestNode[], rest: Partial<PlanTrace> = {}): PlanTrace {
  const traces = nodes.map(toTrace);
  const final = traces.at(-1);
  return {
    sessionId: 'session-1',
    run: 3,
    request: 'Compare the two',
    plan: {
      version: 1,
      status: 'success',
      nodes: traces.map(({ node, tool, dependsOn }) => ({
        id: node,
        tool,
        inputs: {},
        depends_on: dependsOn,
        retry: 0,
        timeout: 60,
        on_fail: 'continue',
        metadata: {},
      })),
      final_output_node: final?.node ?? 0,
    },
    digest: 'ab'.repeat(32),
    status: traces.every(({ kind }) => kind === 'ok') ? 'succeeded' : 'partial',
    nodes: traces,
    output: final?.kind === 'ok' ? final.value : undefined,
    pending: [],
    startedAtMs: 0,
    endedAtMs: 1_500,
    ...rest,
  };
}

function toTrace(given: TestNode): NodeTrace {
  const kind = given.kind ?? 'ok';
  return {
    tool: 'search',
    kind,
    code: kind === 'ok' ? undefined : `test.${kind}`,
    message: kind === 'ok' ? '' : `It ended as ${kind}.`,
    value: kind === 'ok' ? 1 : null,
    purpose: undefined,
    dependsOn: [],
    because: [],
    callId: undefined,
    input: undefined,
    attempts: 1,
    retries: [],
    decisions: [],
    approval: undefined,
    startedAtMs: undefined,
    endedAtMs: undefined,
    durationMs: undefined,
    ...given,
  };
}

/** The text of the one message that describes a run to a model. */
export function toldText(request: ModelRequest | undefined): string {
  return request?.messages.find(({ role }) => role === 'user')?.text ?? '';
}

export interface Told {
  readonly request?: string;
  readonly requestLeftOutCharacters?: number;
  readonly status: string;
  readonly missing: readonly Json[];
  readonly leftOutNodes: number;
  readonly nodes: readonly {
    readonly node: Json;
    readonly kind: string;
    readonly purpose?: string;
    readonly message?: string;
    readonly result?: Json;
    readonly resultStart?: string;
    readonly leftOutCharacters?: number;
  }[];
}

export function toldOf(request: ModelRequest | undefined): Told {
  return JSON.parse(toldText(request)) as Told;
}
