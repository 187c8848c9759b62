import type { Json } from '@holdfast/core';
import { errorsOf, type ReasonedError } from '@holdfast/core/internal';
import { shorten } from './text.ts';
import type { NodeId, PlanViolation } from './types.ts';

/** Reasons of `plan.invalid`. */
export type PlanReason =
  | 'blocked'
  | 'calls_ignored'
  | 'deps.duplicate'
  | 'deps.type'
  | 'deps.unknown'
  | 'depth.limit'
  | 'error.missing'
  | 'final.missing'
  | 'final.type'
  | 'final.unknown'
  | 'function.type'
  | 'function.unknown'
  | 'input.unknown'
  | 'json.invalid'
  | 'json.limit'
  | 'json.repaired'
  | 'key.twice'
  | 'key.unknown'
  | 'locks.failed'
  | 'locks.unordered'
  | 'metadata.type'
  | 'node.duplicate'
  | 'node.id.invalid'
  | 'node.id.missing'
  | 'node.tool.type'
  | 'node.unused'
  | 'nodes.limit'
  | 'nodes.type'
  | 'number.default'
  | 'on_fail.unknown'
  | 'ref.default'
  | 'ref.invalid'
  | 'ref.path'
  | 'ref.type'
  | 'retry.ignored'
  | 'retry.limit'
  | 'status.unknown'
  | 'timeout.limit'
  | 'tool.not_executable'
  | 'unchecked'
  | 'version.unknown'
  | 'violations.more';

/** A kind of problem: a reason of `plan.invalid`, or a code of its own. */
type PlanFault =
  | PlanReason
  | 'plan.deps.cycle'
  | 'plan.input.missing'
  | 'plan.input.type'
  | 'plan.inputs.type'
  | 'plan.node.tool.missing'
  | 'plan.node.type'
  | 'plan.nodes.empty'
  | 'plan.not_object'
  | 'plan.policy.denied'
  | 'plan.ref.unknown'
  | 'plan.tool.unknown';

export const planError: ReasonedError<PlanReason> = errorsOf('plan.invalid');

/** The place of a problem. */
export interface Place {
  readonly path: string;
  readonly node?: NodeId | undefined;
  /** The node's index in the plan. Default: before all nodes. */
  readonly index?: number;
}

/** Collects problems. */
export interface Report {
  add(fault: PlanFault, place: Place, message: string): void;
  /** In document order: first the plan's own, then by node, each in the order of discovery. */
  list(): readonly PlanViolation[];
}

/** Sorts after all nodes. */
export const afterNodes: number = Number.POSITIVE_INFINITY;

/** More would not be read, and would take memory. */
const maxViolations = 1_000;
const maxPath = 500;
const maxMessage = 1_000;

export function createReport(): Report {
  const found: { readonly index: number; readonly violation: PlanViolation }[] = [];
  let more = 0;
  return {
    add(fault, { path, node, index = -1 }, message) {
      if (found.length >= maxViolations) {
        more += 1;
        return;
      }
      const violation = Object.freeze({
        ...(isReason(fault) ? { code: 'plan.invalid', reason: fault } : { code: fault }),
        path: shorten(path, maxPath),
        ...(node === undefined ? {} : { node }),
        message: shorten(message, maxMessage),
      });
      found.push({ index, violation });
    },
    list() {
      const sorted = found.toSorted((left, right) =>
        left.index < right.index ? -1 : Number(left.index > right.index),
      );
      const listed = sorted.map(({ violation }) => violation);
      if (more > 0) {
        const message = `${more} more problems are not listed.`;
        listed.push(Object.freeze({ code: 'plan.invalid', reason: 'violations.more', path: '', message }));
      }
      return Object.freeze(listed);
    },
  };
}

// No reason starts like a code.
function isReason(fault: PlanFault): fault is PlanReason {
  return !fault.startsWith('plan.');
}

/** Formats an untrusted value for a message: in backticks, short, on one line. */
export function show(value: Json | undefined): string {
  if (typeof value === 'string') return `\`${shorten(JSON.stringify(value.slice(0, 61)).slice(1, -1), 60)}\``;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return `\`${String(value)}\``;
}

/** Lists some of `names` in backticks. */
export function showList(names: readonly Json[], maxNames = 20): string {
  const shown = names.slice(0, maxNames).map(show).join(', ');
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

/** Returns a function that lists some of `names`, those with the same beginning first: a cut list should show the name that was meant. */
export function createNearestList(names: readonly string[]): (wanted: string) => string {
  // A plan may have ten thousand mistakes, and all names with the same beginning get the same list.
  const lists = new Map<string, string>();
  return (wanted) => {
    const start = wanted.slice(0, 3).toLowerCase();
    const known = lists.get(start);
    if (known !== undefined) return known;
    const isLike = (name: string): boolean => name.slice(0, 3).toLowerCase() === start;
    const list = showList([...names.filter(isLike), ...names.filter((name) => !isLike(name))]);
    lists.set(start, list);
    return list;
  };
}
