import { hash } from 'node:crypto';
import { decodeJson, isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from './log.ts';

/** The link of the first record. */
const firstLink = '0'.repeat(64);

/** The `prev` of the next record: the SHA-256 of this line's bytes without its newline. */
export function linkOf(line: string | Uint8Array): string {
  return hash('sha256', line, 'hex');
}

/** A position between two records: the number and link of the next one. */
export interface ChainPlace {
  readonly seq: number;
  readonly head: string;
}

/** The position before the first record. */
export const beginning: ChainPlace = { seq: 0, head: firstLink };

export interface ChainProblem {
  readonly code: 'log.damaged';
  /** `record` (not a record), `sequence` (a gap), `chain` (the line before was changed). */
  readonly reason: 'record' | 'sequence' | 'chain';
  readonly message: string;
}

/** `place`: the position of the record. */
export type ParsedRecord = { readonly record: LogRecord; readonly place: ChainPlace } | ChainProblem;

/** Parses a record, without its link. `place`: its position; `undefined`: the beginning, or for a snapshot anywhere. */
export function parseRecord(text: string, place: ChainPlace | undefined): ParsedRecord {
  return (place && parseUsual(text, place)) ?? parseAny(text, place);
}

/** Fast path for a line in our own format; avoids creating the object twice. */
function parseUsual(text: string, place: ChainPlace): ParsedRecord | undefined {
  const { seq, head } = place;
  const start = `{"seq":${seq},"prev":"${head}",`;
  if (!text.startsWith(start)) return undefined;
  let value: Readonly<Record<string, unknown>>;
  try {
    value = decodeJson(`{"seq":${seq},${text.slice(start.length)}`) as typeof value;
  } catch {
    return undefined;
  }
  const usual =
    value['seq'] === seq &&
    typeof value['type'] === 'string' &&
    typeof value['atMs'] === 'number' &&
    !Object.hasOwn(value, 'prev');
  // Checked above; the other fields came from JSON.
  return usual ? { record: value as LogRecord, place } : undefined;
}

function parseAny(text: string, known: ChainPlace | undefined): ParsedRecord {
  const seq = known?.seq ?? 0;
  let value: unknown;
  try {
    value = decodeJson(text);
  } catch {
    return { code: 'log.damaged', reason: 'record', message: `Record ${seq} is not JSON.` };
  }
  if (!isPlainObject(value) || typeof value['type'] !== 'string' || typeof value['atMs'] !== 'number') {
    return { code: 'log.damaged', reason: 'record', message: `Record ${seq} has no type or time.` };
  }
  const place = known ?? placeBefore(value);
  if (value['seq'] !== place.seq) {
    return {
      code: 'log.damaged',
      reason: 'sequence',
      message: `Record ${place.seq} is missing: the next one is numbered ${String(value['seq'])}.`,
    };
  }
  const { prev, ...record } = value;
  if (prev !== place.head) {
    return {
      code: 'log.damaged',
      reason: 'chain',
      message: `A record before ${place.seq} was changed after it was written.`,
    };
  }
  // Checked above; the other fields came from JSON.
  return { record: record as LogRecord, place };
}

/** A snapshot may follow any position. */
function placeBefore({ type, seq, prev }: Readonly<Record<string, unknown>>): ChainPlace {
  const fits = type === 'snapshot' && Number.isSafeInteger(seq) && Number(seq) > 0 && isLink(prev);
  return fits ? { seq: Number(seq), head: String(prev) } : beginning;
}

function isLink(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
