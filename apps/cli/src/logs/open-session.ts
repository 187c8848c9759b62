import { HoldfastError, isHoldfastError, type Slice } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type LogRecord, type OpenedLog, replay, type Session } from '@holdfast/session';
import { type OpenedJsonlLog, openJsonlLog, type SnapshotOptions } from '@holdfast/session/jsonl';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { isUnredacted, openRedaction } from '../user/redaction.ts';
import type { FoundLog } from '../workspace/session-logs.ts';
import { inTurn } from './in-turn.ts';
import { listKnown, listReducing, toIdleSlice } from './replay.ts';

/** The guard of an agent has the log of its session for a part of a second. */
const waitsMs = 2_000;

type Opened = OpenedLog & Partial<Pick<OpenedJsonlLog, 'torn' | 'earlier' | 'exposed'>>;

/** Finds slices that are not part of this program. */
export type FindSlices = (records: readonly LogRecord[]) => Promise<readonly Slice[]>;

export interface OpenSessionOptions {
  readonly findSlices?: FindSlices;
  /** Default true: tells of damage. */
  readonly warns?: boolean;
}

/**
 * Opens an existing session for writing; it is locked until closed. Waits a moment for its turn. Calls `findSlices` only if the session has slices whose reducers
 * are not part of this program. Without it their state is missing, which is enough for an answer or a grant.
 *
 * @throws HoldfastError `log.locked`, `log.write_failed`, `log.unreadable`, those of a damaged log, as `openRedaction` and as `replay`.
 */
export async function openSession(
  log: FoundLog,
  workspace: string,
  host: Host,
  { findSlices, warns = true }: OpenSessionOptions = {},
): Promise<Session> {
  const { id, path } = log;
  const pending = toCommand({ words: ['pending', id], workspace }, host);
  // A snapshot would lose the missing state.
  const options = findSlices === undefined ? { snapshotAfterBytes: Number.POSITIVE_INFINITY } : {};
  const { clock } = host;
  const opened = await inTurn(() => openLog(log, pending, options), {
    untilMs: clock.now() + waitsMs,
    now: () => clock.now(),
    pause: (ms) => new Promise((resolve) => clock.after(ms, resolve)),
  });
  const { records, store } = opened;
  try {
    for (const warning of warns ? listWarnings(opened) : []) host.stderr.write(`warning: ${toPrintable(warning)}\n`);
    if (records.length === 0) {
      throw new HoldfastError('log.unreadable', `The log of session \`${id}\` is empty: there is nothing to resume.`, {
        data: { reason: 'empty' },
      });
    }
    const declared = [...listReducing(records).values()];
    const known = listKnown(declared);
    const missing = declared.filter(({ id: sliceId }) => !known.some((slice) => slice.id === sliceId));
    const slices = missing.length === 0 ? [] : ((await findSlices?.(records)) ?? missing.map(toIdleSlice));
    const needed = slices.filter((slice) => missing.some((one) => one.id === slice.id));
    // A long log begins with a snapshot, and a log whose beginning is damaged keeps its masks.
    const isLate = records[0]?.type === 'snapshot' && opened.earlier === undefined;
    const all = (isLate ? store.read?.(0) : undefined) ?? records;
    const redaction = isUnredacted(all) ? {} : await openRedaction(path, host);
    return replay(records, { ...redaction, slices: [...known, ...needed], store, clock: host.clock });
  } catch (thrown) {
    store.close();
    throw isHoldfastError(thrown) && thrown.reason === 'slice_missing'
      ? withHint(
          thrown,
          'The session was made by another program, or with a plugin that is missing: resume it in that program, or install the plugin.',
        )
      : thrown;
  }
}

function listWarnings({ torn, earlier, exposed }: Opened): readonly string[] {
  return [
    ...(torn === undefined
      ? []
      : [
          `the log was torn: its last ${torn.bytes} bytes, from byte ${torn.offset}, were an incomplete record, now kept in ${torn.keptAt}`,
        ]),
    ...(earlier === undefined ? [] : [`the log before its last snapshot is damaged: ${earlier.message}`]),
    ...(exposed === undefined ? [] : [`other users could have changed the log: ${exposed}`]),
  ];
}

async function openLog({ id, path, store }: FoundLog, pending: string, options: SnapshotOptions): Promise<Opened> {
  try {
    return await (store === undefined ? openJsonlLog(path, options) : store.logs(options).open(id));
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.code !== 'log.locked') throw thrown;
    throw withHint(thrown, `\`${pending}\` still works while the log is locked.`);
  }
}

function withHint(thrown: HoldfastError, hint: string): HoldfastError {
  const data = isPlainObject(thrown.data) ? thrown.data : {};
  return new HoldfastError(thrown.code, thrown.message, { data: { ...data, hint }, cause: thrown });
}
