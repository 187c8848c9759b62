import { hash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, defineSlice, type Json, type Slice, upsert } from '@holdfast/core';
import { createSession, type ExportedSlice, type LogRecord, replay, type Session } from '@holdfast/session';
import { createJsonlLog, type LogReading, readLog } from '@holdfast/session/jsonl';
import * as v from 'valibot';
import { expect } from 'vitest';

/** A folder for logs that are damaged, gone when the caller's scope ends. */
export function makeFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-damage-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A log as it was written. */
export interface WrittenLog {
  readonly bytes: Buffer;
  /** Without their newlines. */
  readonly lines: readonly string[];
  /** Where each line ends, its newline included; `edges[n]` is the size of the first `n` records. */
  readonly edges: readonly number[];
  readonly reading: LogReading;
  /** `moments[n]`: what the session was after `n` records. */
  readonly moments: readonly Moment[];
}

export interface Moment {
  /** The definitions that it had met. */
  readonly slices: readonly Slice[];
  readonly states: readonly ExportedSlice[];
}

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  reducers: { noted: (_state, payload) => append(payload) },
});
const tasks = defineSlice<Json>({
  id: 'tasks',
  kind: 'keyed',
  reducers: { 'task-set': (_state, payload) => upsert((payload as { key: string }).key, payload as Json) },
});
const diary = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});
/** Met in the middle of the log. */
const late = defineSlice<string>({
  id: 'late',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload), belated: (_state, payload) => append(payload) },
});

/** Writes a log of `count` records, at least 2, with every way in which a session changes. */
export function writeLog(path: string, count: number): WrittenLog {
  let slices: readonly Slice[] = [notes, tasks, diary];
  const session = createSession({ id: 's', store: createJsonlLog(path), slices, clock: ticking() });
  const moments: Moment[] = [];
  const remember = (slices: readonly Slice[]): void => {
    moments[session.snapshot().seq] = { slices, states: session.export().slices };
  };
  remember(slices);
  let kept = session.snapshot();
  for (let number = 1; session.snapshot().seq < count; number += 1) {
    if (session.snapshot().seq === Math.floor(count / 2)) {
      slices = [...slices, late];
      session.register(late);
      // Its declaration comes before the next record, as one of its own.
      moments[session.snapshot().seq + 1] = { slices, states: session.export().slices };
    }
    if (number % 23 === 0) session.restore(kept);
    else if (number % 41 === 0) session.import({ ...session.export(), seq: 0 });
    else if (number % 59 === 0) session.reset();
    else change(session, number);
    remember(slices);
    if (number % 10 === 0) kept = session.snapshot();
  }
  void session.close();
  const bytes = readFileSync(path);
  const lines = bytes.toString().trimEnd().split('\n');
  let size = 0;
  const edges = [0, ...lines.map((line) => (size += Buffer.byteLength(line) + 1))];
  return { bytes, lines, edges, reading: readLog(path), moments };
}

function change(session: Session, number: number): void {
  if (number % 4 === 0) session.record({ type: 'note', number, text: 'Umlaute äöü, \ud83d\ude00 and a "quote"' });
  else if (number % 3 === 0) session.dispatch({ type: 'task-set', payload: { key: `t${number % 5}`, number } });
  else if (number % 5 === 0) session.dispatch({ type: 'happened', payload: `day ${number}` });
  else session.dispatch({ type: 'noted', payload: `note ${number}` });
}

export function ticking(): { now(): number; after(delayMs: number, run: () => void): () => void } {
  let now = 0;
  return {
    now: () => (now += 1),
    after: () => () => undefined,
  };
}

/** The session that the first records of a log make, as `Moment` has it. */
export function replayed(records: readonly LogRecord[], slices: readonly Slice[]): readonly ExportedSlice[] {
  return replay(records, { slices }).export().slices;
}

/** The link of a first record. */
const firstLink = '0'.repeat(64);

/** The `prev` that the record after a line must have. */
export function linkOf(line: string): string {
  return hash('sha256', line, 'hex');
}

/** The line as it would have been written after `previous`. */
function forge(line: string, seq: number, previous: string | undefined): string {
  const record = JSON.parse(line) as Record<string, Json>;
  return JSON.stringify({ ...record, seq, prev: previous === undefined ? firstLink : linkOf(previous) });
}

/** The expected result of reading a damaged log: the problem, or that only a head noted before can tell. */
export type Finding = { readonly reason: string; readonly seq: number } | 'only by its head';

export interface Damage {
  readonly what: string;
  readonly lines: readonly string[];
  readonly finding: Finding;
}

/** Every line deleted, swapped with every other, doubled anywhere, and inserted anywhere: as a copy, and with a link of its own. */
export function* damageLines(lines: readonly string[]): Generator<Damage> {
  const { length } = lines;
  for (let at = 0; at < length; at += 1) {
    yield {
      what: `line ${at} deleted`,
      lines: lines.toSpliced(at, 1),
      finding: at === length - 1 ? 'only by its head' : { reason: 'sequence', seq: at },
    };
    for (let other = at + 1; other < length; other += 1) {
      const swapped = lines.with(at, lines[other] ?? '').with(other, lines[at] ?? '');
      yield { what: `lines ${at} and ${other} swapped`, lines: swapped, finding: { reason: 'sequence', seq: at } };
    }
    for (let place = 0; place <= length; place += 1) {
      yield {
        what: `line ${at} copied before line ${place}`,
        lines: lines.toSpliced(place, 0, lines[at] ?? ''),
        // Before itself it is where it was, and the one after it is too many.
        finding: { reason: 'sequence', seq: place === at ? at + 1 : place },
      };
    }
  }
  for (let place = 0; place <= length; place += 1) {
    const forged = forge(lines[1] ?? '', place, lines[place - 1]);
    yield {
      what: `a line with its own link inserted before line ${place}`,
      lines: lines.toSpliced(place, 0, forged),
      finding: place === length ? 'only by its head' : { reason: 'sequence', seq: place + 1 },
    };
    if (place === length) continue;
    const renumbered = lines.slice(place).map((line, index) => line.replace(/"seq":\d+/, `"seq":${place + 1 + index}`));
    yield {
      what: `a line with its own link inserted before line ${place}, and the others numbered anew`,
      lines: [...lines.slice(0, place), forged, ...renumbered],
      finding: { reason: 'chain', seq: place + 1 },
    };
    yield {
      what: `line ${place} written anew`,
      lines: lines.with(place, forge('{"type":"forged","atMs":7}', place, lines[place - 1])),
      finding: place === length - 1 ? 'only by its head' : { reason: 'chain', seq: place + 1 },
    };
  }
}

/** The log with everything from line `from` on written anew, each with the link that it has to have. */
export function rewriteTail(lines: readonly string[], from: number): readonly string[] {
  const rewritten = [...lines.slice(0, from)];
  for (let seq = from; seq < lines.length; seq += 1)
    rewritten.push(forge((lines[seq] ?? '').replace('"atMs":', '"atMs":1'), seq, rewritten[seq - 1]));
  return rewritten;
}

/** The problem with the result, if there is one. */
export function findHidden(
  { head, problem, records }: Reading,
  finding: Finding,
  headBefore: string,
): string | undefined {
  if (finding === 'only by its head') {
    if (problem !== undefined) return `found ${problem.reason} at ${problem.seq} where nothing can be seen`;
    return head === headBefore ? 'the head is the same as before' : undefined;
  }
  if (problem === undefined) return 'was not found';
  if (problem.reason !== finding.reason || problem.seq !== finding.seq)
    return `found ${problem.reason} at ${problem.seq}, expected ${finding.reason} at ${finding.seq}`;
  return records.length === finding.seq ? undefined : `gives ${records.length} records`;
}

type Reading = Pick<LogReading, 'head' | 'records'> & {
  readonly problem?: { readonly reason: string; readonly seq: number };
};

// Comparing by hand: hundreds of thousands of `expect` take longer than what they look at.
function checkNone(wrong: readonly string[]): void {
  expect(wrong.slice(0, 10)).toEqual([]);
}

/** Reads a log cut at every byte. Answers how many there were. */
export function checkPrefixes({ bytes, edges, lines, reading }: WrittenLog, folder: string): number {
  const path = join(folder, 'prefix.jsonl');
  writeFileSync(path, bytes);
  const descriptor = openSync(path, 'r+');
  const wrong: string[] = [];
  let whole = lines.length;
  try {
    for (let size = bytes.length; size >= 0; size -= 1) {
      if (size < (edges[whole] ?? 0)) whole -= 1;
      ftruncateSync(descriptor, size);
      const { records, head, torn, problem } = readLog(path);
      const edge = edges[whole] ?? 0;
      const last = lines[whole - 1];
      const isRight =
        problem === undefined &&
        records.length === whole &&
        head === (last === undefined ? firstLink : linkOf(last)) &&
        (size === edge ? torn === undefined : torn?.offset === edge && torn.bytes === size - edge);
      if (!isRight) wrong.push(`cut at ${size}`);
      // Within a line they are the same records as at its edge.
      if (size === edge) expect(records).toEqual(reading.records.slice(0, whole));
    }
  } finally {
    closeSync(descriptor);
  }
  checkNone(wrong);
  return bytes.length + 1;
}

/** Reads a log with every bit turned over in its turn. */
export function checkFlips(
  { bytes, edges, lines, reading }: WrittenLog,
  folder: string,
): { readonly flips: number; readonly onlyByHead: number } {
  const path = join(folder, 'flips.jsonl');
  writeFileSync(path, bytes);
  const descriptor = openSync(path, 'r+');
  const wrong: string[] = [];
  let flips = 0;
  let onlyByHead = 0;
  let seq = 0;
  try {
    for (const [at, byte] of bytes.entries()) {
      if (at === edges[seq + 1]) seq += 1;
      for (let bit = 0; bit < 8; bit += 1) {
        writeSync(descriptor, Uint8Array.of(byte ^ (1 << bit)), 0, 1, at);
        const { records, problem, torn, head } = readLog(path);
        flips += 1;
        if (problem !== undefined) {
          // The line after it vouches for a line's content; the line itself for what it says of itself.
          const found = problem.seq === seq || (problem.seq === seq + 1 && problem.reason === 'chain');
          if (!found || records.length !== problem.seq) wrong.push(`bit ${bit} of byte ${at}: at ${problem.seq}`);
        } else if (torn !== undefined) {
          if (seq !== lines.length - 1 || torn.offset !== edges[seq]) wrong.push(`bit ${bit} of byte ${at}: torn`);
        } else if (seq === lines.length - 1 && head !== reading.head) onlyByHead += 1;
        else wrong.push(`bit ${bit} of byte ${at}: not found`);
      }
      writeSync(descriptor, Uint8Array.of(byte), 0, 1, at);
    }
  } finally {
    closeSync(descriptor);
  }
  checkNone(wrong);
  return { flips, onlyByHead };
}

/** Reads a log with every damage of `damageLines`. Answers how many there were. */
export function checkLineDamage({ lines, reading }: WrittenLog, folder: string): number {
  const path = join(folder, 'damaged.jsonl');
  const wrong: string[] = [];
  let count = 0;
  for (const { what, lines: damaged, finding } of damageLines(lines)) {
    writeFileSync(path, `${damaged.join('\n')}\n`);
    const hidden = findHidden(readLog(path), finding, reading.head);
    if (hidden !== undefined) wrong.push(`${what}: ${hidden}`);
    count += 1;
  }
  checkNone(wrong);
  return count;
}
