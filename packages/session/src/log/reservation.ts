import type { Json } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from './log.ts';

/** Changes of policies' states that hold unless the call itself is counted, or had no effect. */
export interface Reservation {
  readonly callId: string;
  /** In the format of a commit's `changes`. */
  readonly changes: readonly Json[];
}

/** True if a start has reservations, or an end had no effect and so drops them. */
export function changesReserved({ type, reserved, outcome }: LogEntry): boolean {
  if (type === 'tool-call-start') return Array.isArray(reserved);
  const kind = isPlainObject(outcome) ? outcome['kind'] : undefined;
  return kind !== 'ok' && kind !== 'in-doubt';
}

// Shared: most calls reserve nothing.
const nothing: { readonly reserved?: readonly Reservation[] } = Object.freeze({});

/** A restarted call has one effect: its new reservations replace the earlier ones. */
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

/** True if it was created by `toReserved`. */
export function isReserved(json: unknown): boolean {
  if (json === undefined) return true;
  return Array.isArray(json) && json.every((each) => isPlainObject(each) && Array.isArray(each['changes']));
}
