import type { Tool } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { DraftNode, Reports } from '../plan/draft.ts';
import { show } from '../plan/violations.ts';
import type { PlanGraph } from './graph.ts';
import type { CheckedInputs } from './inputs.ts';
import type { ToolFacts } from './tool-facts.ts';

/** A node whose tool and inputs are valid. */
export interface LockCandidate {
  readonly facts: ToolFacts;
  readonly inputs: CheckedInputs;
}

/** Asks if `later` depends on `earlier`. */
interface Question {
  readonly lock: string;
  readonly earlier: number;
  readonly later: number;
}

/**
 * Rejects two nodes that have external effects and share a lock unless one depends on the other; otherwise their order would be random.
 * Considers only nodes whose inputs hold no references. Reports `plan.invalid`.
 */
export function checkLocks(
  nodes: readonly DraftNode[],
  candidates: readonly (LockCandidate | undefined)[],
  { graph: { order, parents }, reports }: { readonly graph: PlanGraph; readonly reports: Reports },
): void {
  if (order === undefined) return;
  const holders = new Map<string, number>();
  const questions: Question[] = [];
  // In topological order: if each holder depends on the one before it, all of them are ordered.
  for (const position of order) {
    const node = nodes[position];
    const candidate = candidates[position];
    if (node === undefined || candidate === undefined) continue;
    for (const lock of readLocks(node, candidate, reports)) {
      const earlier = holders.get(lock);
      if (earlier !== undefined && earlier !== position) questions.push({ lock, earlier, later: position });
      holders.set(lock, position);
    }
  }
  for (const { lock, earlier, later } of findUnordered(questions, order, parents)) {
    const [first, second] = earlier < later ? [earlier, later] : [later, earlier];
    const { path = '', id, index = -1 } = nodes[second] ?? {};
    const message = `This node and ${show(nodes[first]?.id)} both need the lock ${show(lock)}, and neither depends on the other. Add a \`depends_on\` to set their order.`;
    reports.violations.add('locks.unordered', { path, node: id, index }, message);
  }
}

function readLocks(
  { path, id, index }: DraftNode,
  { facts: { tool }, inputs }: LockCandidate,
  { warnings }: Reports,
): ReadonlySet<string> {
  if (tool.effects !== 'external' || tool.locks === undefined || inputs.input === undefined) return none;
  let problem = '';
  const onProblem = (what: string): void => {
    problem = what;
  };
  const names = lockNamesOf(tool, inputs.input, onProblem);
  if (names !== undefined) return new Set(names);
  const message = `Cannot determine the locks of \`${tool.name}\` for these inputs: ${problem}. The node runs alone.`;
  warnings.add('locks.failed', { path, node: id, index }, message);
  return none;
}

const none: ReadonlySet<string> = new Set();
/** One pass answers one question per bit of a 32-bit integer. */
const bits = 32;

function findUnordered(
  questions: readonly Question[],
  order: readonly number[],
  parents: PlanGraph['parents'],
): readonly Question[] {
  const unordered: Question[] = [];
  for (let start = 0; start < questions.length; start += bits) {
    const batch = questions.slice(start, start + bits);
    /** One bit per question: set if this node is the earlier one or depends on it. */
    const reached = new Int32Array(parents.length);
    for (const [bit, { earlier }] of batch.entries()) reached[earlier] = (reached[earlier] ?? 0) | (1 << bit);
    for (const node of order) {
      let mask = reached[node] ?? 0;
      for (const parent of parents[node] ?? []) mask |= reached[parent] ?? 0;
      reached[node] = mask;
    }
    unordered.push(...batch.filter(({ later }, bit) => ((reached[later] ?? 0) & (1 << bit)) === 0));
  }
  return unordered;
}

/**
 * The distinct lock names of a call of `tool`, which declares locks. `undefined`: unknown, so the call must run alone; `onProblem` gets the
 * reason.
 */
export function lockNamesOf(
  tool: Tool,
  input: unknown,
  onProblem?: (problem: string) => void,
): readonly string[] | undefined {
  try {
    const locks: unknown = tool.locks?.(input);
    if (Array.isArray(locks) && locks.every((lock) => typeof lock === 'string')) return [...new Set<string>(locks)];
    // Locks must be synchronous. Ignore the promise, so that its rejection cannot end the process.
    void Promise.allSettled([locks]);
    onProblem?.('`locks` did not return a list of strings');
  } catch (thrown) {
    onProblem?.(`\`locks\` threw: ${describeThrown(thrown)}`);
  }
  return undefined;
}
