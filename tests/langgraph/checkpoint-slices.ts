import { defineSlice, type KeyedState, remove, type Slice, upsert } from '@holdfast/core';

/** A serialized value: the name of its format, and its bytes in base64. */
export type Packed = { readonly type: string; readonly base64: string };

/** The address of a checkpoint: the namespace is `''` for a top-level graph. */
export type Place = { readonly threadId: string; readonly namespace: string; readonly checkpointId: string };

export type StoredCheckpoint = Place & {
  readonly parentId: string | null;
  /** Without its channel values. */
  readonly checkpoint: Packed;
  readonly metadata: Packed;
  /** The channels with a value. */
  readonly channels: readonly { readonly channel: string; readonly version: number | string; readonly value: Packed }[];
};

/** `value` of a channel is null if it equals the parent's: an event contains only new values. */
export type CheckpointPut = Omit<StoredCheckpoint, 'channels'> & {
  readonly channels: readonly {
    readonly channel: string;
    readonly version: number | string;
    readonly value: Packed | null;
  }[];
};

export type StoredWrite = {
  readonly taskId: string;
  readonly taskPath: string;
  /** Its position among the writes of its task; negative for kinds that occur once per task. */
  readonly index: number;
  readonly channel: string;
  readonly value: Packed;
};

export type WritesPut = Place & { readonly writes: readonly StoredWrite[] };

export type ThreadDeleted = { readonly threadId: string };

/** Key of a checkpoint, and of its writes, in the slices below. */
export function keyOf({ threadId, namespace, checkpointId }: Place): string {
  return JSON.stringify([threadId, namespace, checkpointId]);
}

/** By `keyOf`. */
export const checkpoints: Slice<KeyedState<StoredCheckpoint>> = defineSlice<StoredCheckpoint>({
  id: 'langgraph/checkpoints',
  kind: 'keyed',
  reducers: {
    'checkpoint-put': (state, put: CheckpointPut) => upsert(keyOf(put), withInherited(put, state)),
    'thread-deleted': removeThread,
  },
});

/** The pending writes of tasks, by `keyOf` their checkpoint. */
export const pendingWrites: Slice<KeyedState<WritesPut>> = defineSlice<WritesPut>({
  id: 'langgraph/pending-writes',
  kind: 'keyed',
  reducers: {
    'writes-put': (state, put: WritesPut) => {
      const before = state.get(keyOf(put))?.writes ?? [];
      return upsert(keyOf(put), { ...put, writes: merge(before, put.writes) });
    },
    'thread-deleted': removeThread,
  },
});

function withInherited(put: CheckpointPut, state: KeyedState<StoredCheckpoint>): StoredCheckpoint {
  const parent = put.parentId === null ? undefined : state.get(keyOf({ ...put, checkpointId: put.parentId }));
  const channels = put.channels.flatMap(({ channel, version, value }) => {
    if (value !== null) return [{ channel, version, value }];
    return parent?.channels.filter((other) => other.channel === channel && other.version === version) ?? [];
  });
  return { ...put, channels };
}

// A task that runs again repeats its writes: the first ones stay. Writes that occur once are overwritten.
function merge(before: readonly StoredWrite[], added: readonly StoredWrite[]): readonly StoredWrite[] {
  const isSame = (one: StoredWrite, other: StoredWrite): boolean =>
    one.taskId === other.taskId && one.index === other.index;
  const kept = before.filter((write) => write.index >= 0 || !added.some((other) => isSame(write, other)));
  const fresh = added.filter((write) => !kept.some((other) => isSame(write, other)));
  return [...kept, ...fresh];
}

function removeThread(
  state: KeyedState<{ readonly threadId: string }>,
  { threadId }: ThreadDeleted,
): ReturnType<typeof remove>[] {
  return [...state].filter(([, item]) => item.threadId === threadId).map(([key]) => remove(key));
}
