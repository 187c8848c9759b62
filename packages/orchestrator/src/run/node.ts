import {
  deepFreeze,
  hasMask,
  type JsonObject,
  retryDelayMs,
  type Tool,
  type ToolCallEndEvent,
  type TraceEntry,
  toRetry,
} from '@holdfast/core';
import type { CallManner } from '@holdfast/executor';
import { compileSchema } from '@holdfast/schema';
import { lockNamesOf } from '../check/locks.ts';
import type { InputTree, NodeId, PlanNode } from '../plan/types.ts';
import { toTraceEntry } from '../trace/build.ts';
import { hasEnded } from '../trace/facts.ts';
import { resolveInputs } from './inputs.ts';
import type { NodeEnd } from './ledger.ts';
import type { PlanState } from './state.ts';

/** A node whose call can be made. */
export interface PreparedNode {
  readonly type: 'prepared';
  readonly tool: Tool;
  readonly input: JsonObject;
  /** Names of what it works on; `undefined`: that cannot be told, and it runs alone. */
  readonly locks: readonly string[] | undefined;
}

const noInputs: InputTree = { type: 'value', value: {} };

/** What a node comes to whose dependencies have all settled. `isOpen`: its call has been made before, and is gone on with. */
export function prepareNode(state: PlanState, position: number, isOpen: boolean): PreparedNode | NodeEnd {
  const { nodes, checked, tools } = state;
  const node = nodes[position] as PlanNode;
  const skipped = findSkip(state, position);
  if (skipped !== undefined) return skipped;
  const resolved = resolveInputs(checked.inputs[position] ?? noInputs, state.settledOf);
  switch (resolved.type) {
    case 'invalid': {
      const { code, message, because } = resolved;
      return { type: 'ended', kind: 'invalid', code, message, because: inPlanOrder(state, because) };
    }
    case 'unavailable': {
      const { message, because } = resolved;
      return {
        type: 'ended',
        kind: 'skipped',
        code: 'plan.inputs.unavailable',
        message,
        because: inPlanOrder(state, because),
      };
    }
    case 'resolved': {
      const tool = tools.get(node.tool) as Tool;
      if (!isOpen && state.masked.size > 0 && isMasked(state, position) && hasMask(resolved.value))
        return redacted(node);
      return { type: 'prepared', tool, input: resolved.value, locks: readLocks(tool, resolved.value) };
    }
    default:
      return resolved satisfies never;
  }
}

function findSkip({ nodes, positions, skips }: PlanState, position: number): NodeEnd | undefined {
  // Most runs have none.
  if (skips.size === 0) return undefined;
  let because: NodeId[] | undefined;
  for (const parent of positions.parents[position] ?? []) {
    if (!skips.has(parent)) continue;
    because ??= [];
    because.push((nodes[parent] as PlanNode).id);
  }
  if (because === undefined) return undefined;
  const message = `It needs ${because.map((id) => `\`${id}\``).join(', ')}, and what needs ${because.length === 1 ? 'that' : 'one of them'} is skipped.`;
  return { type: 'ended', kind: 'skipped', code: 'plan.dependency.failed', message, because };
}

function inPlanOrder({ positions: { byId } }: PlanState, ids: readonly NodeId[]): readonly NodeId[] {
  return ids.length < 2 ? ids : [...ids].sort((left, right) => (byId.get(left) ?? 0) - (byId.get(right) ?? 0));
}

function isMasked({ masked, positions }: PlanState, position: number): boolean {
  return masked.has(position) || positions.parents[position]?.some((parent) => masked.has(parent)) === true;
}

function redacted({ tool }: PlanNode): NodeEnd {
  const message = `\`${tool}\` was not called: its inputs held a secret, which the log does not have. Run the plan anew, or go on with it in the process that has it.`;
  return { type: 'ended', kind: 'invalid', code: 'plan.inputs.redacted', message, because: [] };
}

const noLocks: readonly string[] = Object.freeze([]);

function readLocks(tool: Tool, input: JsonObject): readonly string[] | undefined {
  if (tool.locks === undefined) return noLocks;
  const validation = tool.inputSchema && compileSchema(tool.inputSchema).validate(input);
  // It is not going to run.
  if (validation?.ok === false) return noLocks;
  return lockNamesOf(tool, validation?.value ?? input);
}

/** How the calls of the nodes of one run are made. */
export class NodeManners {
  readonly #state: PlanState;
  readonly #onEnd: (event: ToolCallEndEvent) => void;
  /** Of nodes that are not tried again, by their time: the same object is looked at once. */
  readonly #plain = new Map<number, CallManner>();
  /** Places of nodes, by their calls. */
  readonly #positions = new Map<string, number>();
  readonly #trace: (callId: string) => readonly TraceEntry[];

  constructor(state: PlanState, onEnd: (position: number, event: ToolCallEndEvent) => void) {
    this.#state = state;
    this.#trace = (callId) => traceOf(state, this.#positions.get(callId) ?? -1);
    this.#onEnd = (event) => {
      const position = this.#positions.get(event.callId);
      if (position === undefined) return;
      this.#positions.delete(event.callId);
      onEnd(position, event);
    };
  }

  mannerOf(position: number, callId: string): CallManner {
    this.#positions.set(callId, position);
    const { retry, timeout, tool } = this.#state.nodes[position] as PlanNode;
    let plain = this.#plain.get(timeout);
    if (plain === undefined) {
      plain = { attemptTimeoutMs: timeout * 1_000, trace: this.#trace, onEnd: this.#onEnd };
      this.#plain.set(timeout, plain);
    }
    if (retry === 0) return plain;
    const { repeat, retry: own } = this.#state.tools.get(tool) as Tool;
    if (repeat === 'never') return plain;
    const backOff = toRetry(own ?? { attempts: 2 });
    // Many that fail together must not come back together.
    const delayMs = (attempt: number): number => retryDelayMs(backOff, attempt) * (0.5 + this.#state.random() / 2);
    return { ...plain, attempts: retry + 1, delayMs };
  }
}

/** Of everything that the node needs, directly or through others, in plan order. */
function traceOf({ positions: { parents }, nodes, facts }: PlanState, position: number): readonly TraceEntry[] {
  const found = new Set<number>(parents[position]);
  // Grows while it is walked through.
  for (const ancestor of found) for (const parent of parents[ancestor] ?? []) found.add(parent);
  const entries: TraceEntry[] = [];
  for (const ancestor of [...found].sort((left, right) => left - right)) {
    const node = nodes[ancestor];
    const known = facts[ancestor];
    if (node !== undefined && hasEnded(known)) entries.push(deepFreeze(toTraceEntry(node, known)));
  }
  return Object.freeze(entries);
}
