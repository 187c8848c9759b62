import { isDeepStrictEqual } from 'node:util';
import type { SessionEvent } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  copyCheckpoint,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import {
  type CheckpointPut,
  checkpoints,
  keyOf,
  type Packed,
  type Place,
  pendingWrites,
  type StoredCheckpoint,
  type StoredWrite,
  type ThreadDeleted,
  type WritesPut,
} from './checkpoint-slices.ts';

/**
 * Stores the checkpoints of LangGraph.js in a session with any store: each `put`, `putWrites` and `deleteThread` is one event
 * of the log, and reads use the session's slices `checkpoints` and `pendingWrites`.
 *
 * Source: the contract of `BaseCheckpointSaver` in `@langchain/langgraph-checkpoint` 1.2.
 */
export class HoldfastCheckpointSaver extends BaseCheckpointSaver {
  readonly session: Session;

  constructor(session: Session, serde?: SerializerProtocol) {
    super(serde);
    this.session = session;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = textOf(config, 'thread_id');
    if (threadId === undefined) return undefined;
    const namespace = textOf(config, 'checkpoint_ns') ?? '';
    const checkpointId = checkpointIdOf(config);
    const stored =
      checkpointId === ''
        ? this.#find((other) => other.threadId === threadId && other.namespace === namespace)[0]
        : this.session.read(checkpoints).get(keyOf({ threadId, namespace, checkpointId }));
    return stored && this.#toTuple(stored);
  }

  override async *list(
    config: RunnableConfig,
    { before, filter = {}, limit = Number.POSITIVE_INFINITY }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const threadId = textOf(config, 'thread_id');
    const namespace = textOf(config, 'checkpoint_ns');
    const checkpointId = checkpointIdOf(config);
    const beforeId = before === undefined ? '' : checkpointIdOf(before);
    const found = this.#find(
      (stored) =>
        (threadId === undefined || stored.threadId === threadId) &&
        (namespace === undefined || stored.namespace === namespace) &&
        (checkpointId === '' || stored.checkpointId === checkpointId) &&
        (beforeId === '' || stored.checkpointId < beforeId),
    );
    let left = limit;
    for (const stored of found) {
      if (left <= 0) return;
      const metadata = new Map(Object.entries(await this.#metadataOf(stored)));
      if (!Object.entries(filter).every(([key, value]) => isDeepStrictEqual(metadata.get(key), value))) continue;
      left -= 1;
      yield await this.#toTuple(stored);
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = {
      threadId: requiredText(config, 'thread_id'),
      namespace: textOf(config, 'checkpoint_ns') ?? '',
      checkpointId: checkpoint.id,
    };
    const { channel_values: values, ...rest } = copyCheckpoint(checkpoint);
    const parentId = checkpointIdOf(config);
    const channels: CheckpointPut['channels'][number][] = [];
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      if (!Object.hasOwn(newVersions, channel)) channels.push({ channel, version, value: null });
      else if (Object.hasOwn(values, channel)) {
        channels.push({ channel, version, value: await this.#pack(values[channel]) });
      }
    }
    const payload: CheckpointPut = {
      ...place,
      parentId: parentId === '' ? null : parentId,
      checkpoint: await this.#pack(rest),
      metadata: await this.#pack(metadata),
      channels,
    };
    await this.#write({ type: 'checkpoint-put', payload });
    return toConfig(place);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const place = {
      threadId: requiredText(config, 'thread_id'),
      namespace: textOf(config, 'checkpoint_ns') ?? '',
      checkpointId: requiredText(config, 'checkpoint_id'),
    };
    const stored: StoredWrite[] = [];
    for (const [position, [channel, value]] of writes.entries()) {
      const index = specialIndexes.get(channel) ?? position;
      stored.push({ taskId, taskPath, index, channel, value: await this.#pack(value) });
    }
    const payload: WritesPut = { ...place, writes: stored };
    await this.#write({ type: 'writes-put', payload });
  }

  override async deleteThread(threadId: string): Promise<void> {
    const payload: ThreadDeleted = { threadId };
    await this.#write({ type: 'thread-deleted', payload });
  }

  /** Resolves when the data is as durable as the store guarantees. */
  async #write(event: SessionEvent): Promise<void> {
    this.session.dispatch(event);
    await this.session.sync();
  }

  /** Newest first: the ids of checkpoints grow with time. */
  #find(matches: (stored: StoredCheckpoint) => boolean): readonly StoredCheckpoint[] {
    const found: StoredCheckpoint[] = [];
    for (const [, stored] of this.session.read(checkpoints)) if (matches(stored)) found.push(stored);
    return found.sort((one, other) => (one.checkpointId < other.checkpointId ? 1 : -1));
  }

  async #toTuple(stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const { threadId, namespace, parentId } = stored;
    const values: [string, unknown][] = [];
    for (const { channel, value } of stored.channels) values.push([channel, await this.#unpack(value)]);
    const checkpoint: Checkpoint = {
      // Packed by `put`.
      ...((await this.#unpack(stored.checkpoint)) as Omit<Checkpoint, 'channel_values'>),
      channel_values: Object.fromEntries(values),
    };
    const parent = parentId === null ? undefined : { threadId, namespace, checkpointId: parentId };
    if (checkpoint.v < 4 && parent !== undefined) await this.#addSends(checkpoint, parent);
    return {
      config: toConfig(stored),
      checkpoint,
      metadata: await this.#metadataOf(stored),
      pendingWrites: await this.#writesOf(stored),
      ...(parent && { parentConfig: toConfig(parent) }),
    };
  }

  /** Up to version 3 of the format a checkpoint stored its parent's sends separately; now they are a channel. */
  async #addSends(checkpoint: Checkpoint, parent: Place): Promise<void> {
    const sends = (await this.#writesOf(parent)).filter(([, channel]) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sends.map(([, , value]) => value);
    checkpoint.channel_versions[TASKS] =
      versions.length === 0 ? this.getNextVersion(undefined) : maxChannelVersion(...versions);
  }

  async #writesOf(place: Place): Promise<CheckpointPendingWrite[]> {
    const writes = this.session.read(pendingWrites).get(keyOf(place))?.writes ?? [];
    const sorted = writes.toSorted((one, other) => compareWritesSortKeys(sortKeyOf(one), sortKeyOf(other)));
    const unpacked: CheckpointPendingWrite[] = [];
    for (const { taskId, channel, value } of sorted) unpacked.push([taskId, channel, await this.#unpack(value)]);
    return unpacked;
  }

  async #metadataOf({ metadata }: StoredCheckpoint): Promise<CheckpointMetadata> {
    // Packed by `put`.
    return (await this.#unpack(metadata)) as CheckpointMetadata;
  }

  async #pack(value: unknown): Promise<Packed> {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, base64: Buffer.from(bytes).toString('base64') };
  }

  #unpack({ type, base64 }: Packed): Promise<unknown> {
    // Not a `Buffer`: byte values would be restored as one.
    return this.serde.loadsTyped(type, Uint8Array.from(Buffer.from(base64, 'base64')));
  }
}

const specialIndexes: ReadonlyMap<string, number> = new Map(Object.entries(WRITES_IDX_MAP));

function sortKeyOf({ taskPath, taskId, index }: StoredWrite): ReturnType<typeof writesSortKey> {
  return writesSortKey(taskPath, taskId, index);
}

function toConfig({ threadId, namespace, checkpointId }: Place): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: checkpointId } };
}

/** `''` if the config names none. Also supports its old name. */
function checkpointIdOf(config: RunnableConfig): string {
  return textOf(config, 'checkpoint_id') ?? textOf(config, 'thread_ts') ?? '';
}

function textOf({ configurable = {} }: RunnableConfig, name: string): string | undefined {
  const value: unknown = configurable[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(`\`configurable.${name}\` must be a string, got a value of type \`${typeof value}\`.`);
}

function requiredText(config: RunnableConfig, name: string): string {
  const text = textOf(config, name);
  if (text !== undefined && text !== '') return text;
  throw new TypeError(`\`configurable.${name}\` is needed to say what is kept; pass a string that is not empty.`);
}
