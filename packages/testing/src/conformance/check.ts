import { HoldfastError } from '@holdfast/core';
import type { LogEntry, LogRecord, OpenedLog, SessionStore } from '@holdfast/session';

/** One requirement for all implementations of a kind. */
export interface ConformanceCheck {
  /** A sentence that serves as a test name. */
  readonly name: string;
  /** Why this check does not apply; show it as skipped, because its `run` throws. */
  readonly skipped: string | undefined;
  /** Rejects with HoldfastError `conformance.failed` if the requirement is not met, or with a thrown error. */
  readonly run: () => Promise<void>;
}

export function toConformanceCheck(
  name: string,
  skipped: string | undefined,
  check: () => Promise<void>,
): ConformanceCheck {
  return {
    name,
    skipped,
    run: async () => {
      if (skipped === undefined) return check();
      throw new HoldfastError('conformance.skipped', `Not checked, \`${name}\`: ${skipped}.`);
    },
  };
}

export interface StoreUnderTest {
  readonly store: SessionStore;
  readonly read: () => Promise<readonly LogRecord[]>;
  readonly reopen: () => Promise<OpenedLog>;
}

/**
 * `reopen`: a log can be resumed. `text`: content is stored as JSON text in a shared place. The others are optional features of a store.
 */
export type StoreNeed = 'reopen' | 'text' | 'read' | 'sync' | 'snapshots';

export interface StoreCheck {
  readonly name: string;
  readonly needs?: readonly StoreNeed[];
  readonly run: (test: StoreUnderTest) => Promise<void>;
}

/** Appends `entries` after `before`, reads them, closes, and reads everything back. */
export async function keeps(
  { store, read }: StoreUnderTest,
  entries: readonly LogEntry[],
  before: readonly LogRecord[] = [],
): Promise<void> {
  const expected = [...before, ...appendAll(store, entries, before.length)];
  if (store.read !== undefined) sameRecords('the open store', [...store.read()], expected);
  store.close();
  sameRecords('the stored log', await read(), expected);
}

/** Appends records from number `seq` on, and returns them. */
export function appendAll(store: SessionStore, entries: readonly LogEntry[], seq: number): readonly LogRecord[] {
  return entries.map((entry, index) => {
    const record = { seq: seq + index, atMs: 1_000 + seq + index, ...entry };
    store.append(entry, record.seq, 1_000 + seq + index);
    return record;
  });
}

export function makeNotes(count: number, from = 0): readonly LogEntry[] {
  return Array.from({ length: count }, (_, index) => ({ type: 'note', index: from + index }));
}

export function sameRecords(what: string, found: readonly LogRecord[], expected: readonly LogRecord[]): void {
  for (const [index, record] of found.entries()) same(`${what}, record ${index}`, record, expected[index]);
  same(`${what}, the number of records`, found.length, expected.length);
}

export function same(what: string, found: unknown, expected: unknown): void {
  if (isSame(found, expected)) return;
  throw new HoldfastError('conformance.failed', `Expected ${what} to be ${show(expected)}, got ${show(found)}.`);
}

/** Equal as JSON; key order does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map<string, unknown>(Object.entries(a));
  const right = new Map<string, unknown>(Object.entries(b));
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}

export function mustThrow(what: string, action: () => void): void {
  try {
    action();
  } catch {
    return;
  }
  throw new HoldfastError('conformance.failed', `Expected ${what} to be rejected.`);
}

export async function mustReject(what: string, action: () => unknown): Promise<void> {
  try {
    await action();
  } catch {
    return;
  }
  throw new HoldfastError('conformance.failed', `Expected ${what} to be rejected.`);
}

/** An optional feature that was not listed in `without`. */
export function mustHave<Part>(name: string, part: Part | undefined): Part {
  if (part !== undefined) return part;
  throw new HoldfastError(
    'conformance.failed',
    `Expected the store to have \`${name}\`; list unsupported features in \`without\`.`,
  );
}

export const largeNote: LogEntry = { type: 'note', text: 'x'.repeat(65_536) };

/** Appends 64 KiB at a time until `append` returns true. */
export function untilDue(append: () => boolean): void {
  for (let count = 0; count < 1_024; count += 1) if (append()) return;
  throw new HoldfastError('conformance.failed', 'Expected a snapshot to be due after 64 MiB of records.');
}
