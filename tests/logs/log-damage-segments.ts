import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { append, clear, defineSlice } from '@holdfast/core';
import { createSession, type LogRecord } from '@holdfast/session';
import { createJsonlLog, readLog } from '@holdfast/session/jsonl';
import { expect } from 'vitest';
import { ticking } from './log-damage.ts';

/** One file of a log, as it was written. */
export interface SegmentFile {
  readonly path: string;
  readonly bytes: Buffer;
  /** Of its first record, which is a snapshot in every file but the oldest. */
  readonly seq: number;
  /** How many records it has. */
  readonly count: number;
}

/** A log in several files, the oldest first. */
export interface SegmentedLog {
  readonly path: string;
  readonly files: readonly SegmentFile[];
  readonly records: readonly LogRecord[];
  readonly head: string;
}

const notes = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  reducers: { noted: (_state, payload) => append(payload), cleared: () => clear },
});

/** Writes a log with `snapshots` snapshots and some records between them. `word`: in every one of them. */
export function writeSegments(path: string, snapshots: number, word = 'note'): SegmentedLog {
  const store = createJsonlLog(path, { snapshotAfterBytes: 800 });
  const session = createSession({ id: 's', store, slices: [notes], clock: ticking() });
  for (
    let number = 0;
    readLog(path).records.filter(({ type }) => type === 'snapshot').length < snapshots;
    number += 1
  ) {
    session.dispatch({ type: number % 7 === 6 ? 'cleared' : 'noted', payload: `${word} ${number}` });
  }
  session.dispatch({ type: 'noted', payload: 'last' });
  void session.close();
  const { records, head, problem } = readLog(path);
  expect(problem).toBeUndefined();
  const starts = [0, ...records.filter(({ type }) => type === 'snapshot').map(({ seq }) => seq)];
  const files = starts.map((seq, index) => {
    const next = starts[index + 1];
    const own = next === undefined ? path : `${path}.before-${next}`;
    return { path: own, bytes: readFileSync(own), seq, count: (next ?? records.length) - seq };
  });
  return { path, files, records, head };
}

/** Puts every file back as it was. */
export function restore({ files }: SegmentedLog): void {
  for (const { path, bytes } of files) writeFileSync(path, bytes);
}

/**
 * Reads the log with every `step`-th bit of the first `bytes` of each file turned over in its turn; answers how many there were, and how
 * many only the head tells.
 */
export function checkSegmentFlips(
  log: SegmentedLog,
  step: number,
  bytes: number = Number.POSITIVE_INFINITY,
): { readonly flips: number; readonly onlyByHead: number } {
  const wrong: string[] = [];
  const seen = { flips: 0, onlyByHead: 0 };
  const last = log.records.length - 1;
  for (const file of log.files) {
    const descriptor = openSync(file.path, 'r+');
    try {
      for (let bit = 0; bit < Math.min(file.bytes.length, bytes) * 8; bit += step) {
        const at = bit >> 3;
        const seq = file.seq + file.bytes.subarray(0, at).filter((byte) => byte === 10).length;
        const byte = file.bytes[at] ?? 0;
        writeSync(descriptor, Uint8Array.of(byte ^ (1 << (bit & 7))), 0, 1, at);
        const what = look(log, seq, seq === file.seq, last);
        if (what === 'only by its head') seen.onlyByHead += 1;
        else if (what !== undefined) wrong.push(`bit ${bit & 7} of byte ${at} of ${file.path}, record ${seq}: ${what}`);
        seen.flips += 1;
        writeSync(descriptor, Uint8Array.of(byte), 0, 1, at);
      }
    } finally {
      closeSync(descriptor);
    }
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  return seen;
}

/** `seq`: the damaged record. `first`: of its file, whose number says which file is the one before. */
function look({ path, files, head }: SegmentedLog, seq: number, first: boolean, last: number): string | undefined {
  const { problem, torn, records, head: now } = readLog(path);
  if (problem !== undefined) {
    const { reason } = problem;
    const latest = reason === 'chain' ? seq + 1 : seq;
    // With another number it would follow another file, and does not.
    const follows = first && files.some((file) => file.seq === problem.seq && file.seq > 0);
    if (!follows && (problem.seq < seq || problem.seq > latest)) return `found at ${problem.seq}, ${reason}`;
    return records.length === problem.seq ? undefined : `gives ${records.length} records`;
  }
  if (seq !== last) return 'not found';
  if (torn !== undefined) return undefined;
  return now === head ? 'not found' : 'only by its head';
}
