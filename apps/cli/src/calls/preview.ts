import {
  ask,
  type Clock,
  definePolicy,
  type Filesystem,
  type FilesystemReader,
  isHoldfastError,
  type PendingApproval,
  type ResourceTransaction,
  type StagedResource,
  type Tool,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { createSession } from '@holdfast/session';
import { compareTexts } from '../terminal/patch.ts';
import { toDryFilesystem } from './dry-filesystem.ts';

/** What a call would do to one file, as the files are now. JSON. */
export interface StagedChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
  /** Absent for a file that is not there yet. */
  readonly bytesBefore?: number;
  /** Absent for a file that is removed. */
  readonly bytesAfter?: number;
  /** Unified lines, for a text that changes. */
  readonly diff?: string;
}

/** What a waiting call would do to files. Neither is there for tools other than the built-in ones. JSON. */
export interface CallPreview {
  readonly changes?: readonly StagedChange[];
  /** Why the changes cannot be told. */
  readonly changesUnknown?: string;
}

/** What a preview is made for. */
export type PreviewedCall = Pick<PendingApproval, 'name' | 'input' | 'toolDigest' | 'parentId'>;

export interface PreviewPlace {
  readonly filesystem: StagedResource<Filesystem, FilesystemReader>;
  readonly clock: Clock;
}

type Files = ResourceTransaction<Filesystem, FilesystemReader>;

/**
 * What a waiting call of a built-in file tool would do to the files as they are now: the tool runs, and nothing that it writes lands.
 * Nothing is said of other tools: their code runs after a yes only.
 */
export async function previewCall(
  { name, input, toolDigest, parentId }: PreviewedCall,
  { filesystem, clock }: PreviewPlace,
): Promise<CallPreview> {
  const tool = fileTools().find((one) => one.name === name && one.effects !== 'none');
  if (tool === undefined) return {};
  let staged: Files | undefined;
  let changes: readonly StagedChange[] = [];
  const dry = toDryFilesystem(filesystem);
  const files: typeof dry = {
    ...dry,
    begin(callId) {
      staged = dry.begin(callId);
      return staged;
    },
  };
  const watched: Tool = {
    ...tool,
    async execute(given, context) {
      const result: unknown = await tool.execute?.(given, context);
      // Before the call ends: then what is staged is gone.
      if (staged !== undefined) changes = await listChanges(filesystem.readOnly, staged);
      return result;
    },
  };
  const session = createSession({ clock });
  try {
    const outcome = await executeToolCall(
      { name, arguments: input },
      {
        tools: [watched],
        session,
        clock,
        resources: { filesystem: files },
        // Another tool may have the name, in the session of another program: only the digest tells.
        policies: [definePolicy({ name: 'same-tool', check: () => ask('Is it the built-in one?') })],
        approve: (pending) => ({ type: pending.toolDigest === toolDigest ? 'approve' : 'deny' }),
      },
    );
    // Anything else: it is another tool, or takes other arguments, as another one does.
    if (outcome.kind !== 'ok' && outcome.kind !== 'failed') return {};
    if (parentId !== undefined) {
      return { changesUnknown: 'The call around it is running, and its own changes are not known here.' };
    }
    return outcome.kind === 'ok' ? { changes } : { changesUnknown: outcome.message };
  } finally {
    await session.close();
  }
}

/** `previewCall` over the files of a workspace, which is opened for the first one. */
export function openPreviews(workspace: string, clock: Clock): (call: PreviewedCall) => Promise<CallPreview> {
  let filesystem: PreviewPlace['filesystem'] | undefined;
  return (call) => {
    filesystem ??= hostFilesystem(workspace);
    return previewCall(call, { filesystem, clock });
  };
}

async function listChanges(before: FilesystemReader, staged: Files): Promise<readonly StagedChange[]> {
  const changes: StagedChange[] = [];
  for (const write of staged.touched().writes) {
    // A folder that is made on the way is seen from the path.
    if (write.before === write.after || write.after === 'directory') continue;
    const [from, to] = [await lookAt(before, write.key), await lookAt(staged.readOnly, write.key)];
    const isText = from?.text !== undefined && to?.text !== undefined;
    changes.push({
      path: write.key,
      change: from === undefined ? 'created' : to === undefined ? 'removed' : 'changed',
      ...(from === undefined ? {} : { bytesBefore: from.bytes }),
      ...(to === undefined ? {} : { bytesAfter: to.bytes }),
      ...(isText ? { diff: compareTexts(from.text ?? '', to.text ?? '') } : {}),
    });
  }
  return changes;
}

// Of larger files only the sizes are told.
const maxComparedBytes = 1_000_000;

async function lookAt(
  files: FilesystemReader,
  path: string,
): Promise<{ readonly bytes: number; readonly text?: string } | undefined> {
  const found = await files.stat(path);
  if (found === undefined) return undefined;
  if (found.type === 'directory' || found.size > maxComparedBytes) return { bytes: found.size };
  try {
    return { bytes: found.size, text: await files.readText(path) };
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'file.binary') return { bytes: found.size };
    throw thrown;
  }
}
