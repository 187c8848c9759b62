import type { Json } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from './log.ts';

/** Changes of policies' states that count unless what the call did is counted itself, or nothing came of it. */
export interface Reservation {
  readonly callId: string;
  /** As `changes` of a commit has them. */
  readonly changes: readonly Json[];
}

/** Whether a start has something to reserve, or an end came to nothing and so has nothing to count. */
export function changesReserved({ type, reserved, outcome }: LogEntry): boolean {
  if (type === 'tool-call-start') return Array.isArray(reserved);
  const kind = isPlainObject(outcome) ? outcome['kind'] : undefined;
  return kind !== 'ok' && kind !== 'in-doubt';
}

// One for all: most calls reserve nothing.
const nothing: { readonly reserved?: readonly Reservation[] } = Object.freeze({});

/** A call that is begun again has one effect: what it reserves takes the place of what it had. */
export function toReserved(
  known: readonly Reservation[] | undefined,
  entry: LogEntry,
): { readonly reserved?: readonly Reservation[] } {
  if (!changesReserved(entry)) return known === undefined ? nothing : { reserved: known };
  const others = known?.filter(({ callId }) => callId !== entry['callId']) ?? [];
  if (entry.type !== 'tool-call-start') return known === undefined ? nothing : { reserved: others };
  const { callId, reserved } = entry;
  return { reserved: [...others, deepFreeze({ callId: String(callId), changes: reserved as readonly Json[] })] };
}

/** Whether it was made by `toReserved`. */
export function isReserved(json: unknown): boolean {
  if (json === undefined) return true;
  return Array.isArray(json) && json.every((each) => isPlainObject(each) && Array.isArray(each['changes']));
}
