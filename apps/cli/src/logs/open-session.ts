import { HoldfastError, isHoldfastError, isPlainObject, type Slice } from '@holdfast/core';
import { type LogRecord, replay, type Session } from '@holdfast/session';
import { type OpenedJsonlLog, openJsonlLog, type SnapshotOptions } from '@holdfast/session/jsonl';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { isUnredacted, openRedaction } from '../user/redaction.ts';
import type { FoundLog } from '../workspace/session-logs.ts';
import { listKnown, listReducing, toIdleSlice } from './replay.ts';

/** Finds slices that are not part of this program. */
export type FindSlices = (records: readonly LogRecord[]) => Promise<readonly Slice[]>;

/**
 * Opens a session that is there, to write to it. Nobody else can until it is closed. `findSlices` is asked only for a session that has
 * slices whose reducers this program does not have. Without it their states are not there, which is enough for an answer or a grant.
 *
 * @throws HoldfastError `log.locked`, `log.unwritable`, `log.empty`, those of a damaged log, as `openRedaction` and as `replay`.
 */
export async function openSession(
  { id, path }: FoundLog,
  workspace: string,
  host: Host,
  findSlices?: FindSlices,
): Promise<Session> {
  const pending = toCommand({ words: ['pending', id], workspace }, host);
  // No snapshot of states that are not there.
  const opened = openLog(
    path,
    pending,
    findSlices === undefined ? { snapshotAfterBytes: Number.POSITIVE_INFINITY } : {},
  );
  const { records, store } = opened;
  try {
    for (const warning of listWarnings(opened)) host.stderr.write(`warning: ${toPrintable(warning)}\n`);
    if (records.length === 0) {
      throw new HoldfastError('log.empty', `The log of session \`${id}\` is empty, so there is nothing to go on with.`);
    }
    const declared = [...listReducing(records).values()];
    const known = listKnown(declared);
    const missing = declared.filter(({ id: sliceId }) => !known.some((slice) => slice.id === sliceId));
    const slices = missing.length === 0 ? [] : ((await findSlices?.(records)) ?? missing.map(toIdleSlice));
    const needed = slices.filter((slice) => missing.some((one) => one.id === slice.id));
    // In a long log the first of these records is a snapshot; a log with a damaged beginning keeps its masks.
    const all = records[0]?.type === 'snapshot' && opened.earlier === undefined ? store.read() : records;
    const redaction = isUnredacted(all) ? {} : await openRedaction(path, host);
    return replay(records, { ...redaction, slices: [...known, ...needed], store, clock: host.clock });
  } catch (thrown) {
    store.close();
    throw isHoldfastError(thrown) && thrown.code === 'replay.slice_missing'
      ? withHint(
          thrown,
          'Another program made this session, with code that is not part of this one: go on with it there. Or a plugin that it had is not there.',
        )
      : thrown;
  }
}

function listWarnings({ torn, earlier, exposed }: OpenedJsonlLog): readonly string[] {
  return [
    ...(torn === undefined
      ? []
      : [
          `the log was torn: its last ${torn.bytes} bytes, from byte ${torn.offset} on, were half a record; they are kept in ${torn.keptAt}`,
        ]),
    ...(earlier === undefined ? [] : [`what is before the last snapshot of the log is not whole: ${earlier.message}`]),
    ...(exposed === undefined ? [] : [`others could have changed the log: ${exposed}`]),
  ];
}

function openLog(path: string, pending: string, options: SnapshotOptions): OpenedJsonlLog {
  try {
    return openJsonlLog(path, options);
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.code !== 'log.locked') throw thrown;
    throw withHint(thrown, `\`${pending}\` shows what waits in the meantime.`);
  }
}

function withHint(thrown: HoldfastError, hint: string): HoldfastError {
  const data = isPlainObject(thrown.data) ? thrown.data : {};
  return new HoldfastError(thrown.code, thrown.message, { data: { ...data, hint }, cause: thrown });
}
