import type { JsonObject, Tool, ToolCallEndEvent } from '@holdfast/core';
import { deepFreeze, hasMask, retryDelayMs, toRetry } from '@holdfast/core/internal';
import type { TraceEntry } from '@holdfast/core/types';
import type { CallManner } from '@holdfast/executor/internal';
import { compileSchema } from '@holdfast/schema';
import { lockNamesOf } from '../check/locks.ts';
import type { InputTree, NodeId, PlanNode } from '../plan/types.ts';
import { toTraceEntry } from '../trace/build.ts';
import { hasEnded } from '../trace/facts.ts';
import { resolveInputs } from './inputs.ts';
import type { NodeEnd } from './ledger.ts';
import type { PlanState } from './state.ts';

/** A node that is ready to be called. */
export interface PreparedNode {
  readonly type: 'prepared';
  readonly tool: Tool;
  readonly input: JsonObject;
  /** The names of its locks; `undefined` if unknown, in which case it runs alone. */
  readonly locks: readonly string[] | undefined;
}

const noInputs: InputTree = { type: 'value', value: {} };

/** Prepares a node whose dependencies have all ended. `isOpen`: an existing call is being resumed. */
export function prepareNode(state: PlanState, position: number, isOpen: boolean): PreparedNode | NodeEnd {
  const { nodes, checked, tools } = state;
  const node = nodes[position] as PlanNode;
  const skipped = findSkip(state, position);
  if (skipped !== undefined) return skipped;
  const resolved = resolveInputs(checked.inputs[position] ?? noInputs, state.settledOf);
  switch (resolved.type) {
    case 'invalid': {
      const { because } = resolved;
      return { ...resolved, type: 'ended', kind: 'invalid', because: inPlanOrder(state, because) };
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
  // The common case.
  if (skips.size === 0) return undefined;
  let because: NodeId[] | undefined;
  for (const parent of positions.parents[position] ?? []) {
    if (!skips.has(parent)) continue;
    because ??= [];
    because.push((nodes[parent] as PlanNode).id);
  }
  if (because === undefined) return undefined;
  const message = `It depends on ${because.map((id) => `\`${id}\``).join(', ')}; nodes that depend on ${because.length === 1 ? 'it' : 'them'} are skipped.`;
  return { type: 'ended', kind: 'skipped', code: 'plan.dependency.failed', message, because };
}

function inPlanOrder({ positions: { byId } }: PlanState, ids: readonly NodeId[]): readonly NodeId[] {
  return ids.length < 2 ? ids : [...ids].sort((left, right) => (byId.get(left) ?? 0) - (byId.get(right) ?? 0));
}

function isMasked({ masked, positions }: PlanState, position: number): boolean {
  return masked.has(position) || positions.parents[position]?.some((parent) => masked.has(parent)) === true;
}

function redacted({ tool }: PlanNode): NodeEnd {
  const message = `\`${tool}\` was not called: its inputs held a secret that is masked in the log. Run the plan again, or resume it in the process that started it.`;
  return { type: 'ended', kind: 'invalid', code: 'call.redacted', reason: 'inputs', message, because: [] };
}

const noLocks: readonly string[] = Object.freeze([]);

function readLocks(tool: Tool, input: JsonObject): readonly string[] | undefined {
  if (tool.locks === undefined) return noLocks;
  const validation = tool.inputSchema && compileSchema(tool.inputSchema).validate(input);
  // The input is invalid, so the call will not run.
  if (validation?.ok === false) return noLocks;
  return lockNamesOf(tool, validation?.value ?? input);
}

/** The options of each node's call. */
export class NodeManners {
  readonly #state: PlanState;
  readonly #onEnd: (event: ToolCallEndEvent) => void;
  /** By timeout, for nodes without retries: reusing the object avoids checking it again. */
  readonly #plain = new Map<number, CallManner>();
  /** Node positions, by call. */
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
    // Jitter, so that nodes that fail together do not retry together.
    const delayMs = (attempt: number): number => retryDelayMs(backOff, attempt) * (0.5 + this.#state.random() / 2);
    return { ...plain, attempts: retry + 1, delayMs };
  }
}

/** The trace of all direct and indirect dependencies, in plan order. */
function traceOf({ positions: { parents }, nodes, facts }: PlanState, position: number): readonly TraceEntry[] {
  const found = new Set<number>(parents[position]);
  // The set grows during the iteration.
  for (const ancestor of found) for (const parent of parents[ancestor] ?? []) found.add(parent);
  const entries: TraceEntry[] = [];
  for (const ancestor of [...found].sort((left, right) => left - right)) {
    const node = nodes[ancestor];
    const known = facts[ancestor];
    if (node !== undefined && hasEnded(known)) entries.push(deepFreeze(toTraceEntry(node, known)));
  }
  return Object.freeze(entries);
}
