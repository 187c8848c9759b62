import { hash } from 'node:crypto';
import { decodeJson, isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from './log.ts';

/** The link of the first record, which follows none. */
const firstLink = '0'.repeat(64);

/** What the next record's `prev` must be: the SHA-256 of the bytes of this line without its newline. */
export function linkOf(line: string | Uint8Array): string {
  return hash('sha256', line, 'hex');
}

/** A place between two records: the number of the one that follows, and the link that it has to carry. */
export interface ChainPlace {
  readonly seq: number;
  readonly head: string;
}

/** The place before the first record of all. */
export const beginning: ChainPlace = { seq: 0, head: firstLink };

export interface ChainProblem {
  /** `log.record.invalid` (not a record), `log.sequence` (a gap), `log.chain` (the line before was changed). */
  readonly code: 'log.record.invalid' | 'log.sequence' | 'log.chain';
  readonly message: string;
}

/** `place`: where the record stands. */
export type ParsedRecord = { readonly record: LogRecord; readonly place: ChainPlace } | ChainProblem;

/** The record in `text`, without its link. `place`: where it stands; `undefined`: at the beginning, or, when it is a snapshot, anywhere. */
export function parseRecord(text: string, place: ChainPlace | undefined): ParsedRecord {
  return (place && parseUsual(text, place)) ?? parseAny(text, place);
}

/** As a line of ours begins; anything else is looked at more closely. This way no object is made twice. */
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
    return { code: 'log.record.invalid', message: `Record ${seq} is not JSON.` };
  }
  if (!isPlainObject(value) || typeof value['type'] !== 'string' || typeof value['atMs'] !== 'number') {
    return { code: 'log.record.invalid', message: `Record ${seq} has no type or time.` };
  }
  const place = known ?? placeBefore(value);
  if (value['seq'] !== place.seq) {
    return {
      code: 'log.sequence',
      message: `Record ${place.seq} is missing: the next one is numbered ${String(value['seq'])}.`,
    };
  }
  const { prev, ...record } = value;
  if (prev !== place.head) {
    return { code: 'log.chain', message: `Something before record ${place.seq} was changed after it was written.` };
  }
  // Checked above; the other fields came from JSON.
  return { record: record as LogRecord, place };
}

/** A snapshot can be gone on from whatever there was before it. */
function placeBefore({ type, seq, prev }: Readonly<Record<string, unknown>>): ChainPlace {
  const fits = type === 'snapshot' && Number.isSafeInteger(seq) && Number(seq) > 0 && isLink(prev);
  return fits ? { seq: Number(seq), head: String(prev) } : beginning;
}

function isLink(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
