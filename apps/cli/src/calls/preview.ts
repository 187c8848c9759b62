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

/** The effect of a call on one file, based on the current files. JSON. */
export interface StagedChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'removed';
  /** Absent for a new file. */
  readonly bytesBefore?: number;
  /** Absent for a removed file. */
  readonly bytesAfter?: number;
  /** A unified diff, for a changed text. */
  readonly diff?: string;
}

/** The effect of a pending call on files. Empty for tools other than the built-in ones. JSON. */
export interface CallPreview {
  readonly changes?: readonly StagedChange[];
  /** Why the changes are unknown. */
  readonly changesUnknown?: string;
}

/** The call to preview. */
export type PreviewedCall = Pick<PendingApproval, 'name' | 'input' | 'toolDigest' | 'parentId'>;

export interface PreviewPlace {
  readonly filesystem: StagedResource<Filesystem, FilesystemReader>;
  readonly clock: Clock;
}

type Files = ResourceTransaction<Filesystem, FilesystemReader>;

/**
 * Previews the effect of a pending built-in file tool call on the current files: runs the tool and discards its writes. Other tools
 * have no preview, because their code runs only after approval.
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
      // Read before the call ends and discards what it staged.
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
        // A tool of another program may have the same name; only the digest identifies it.
        policies: [definePolicy({ name: 'same-tool', check: () => ask('Is it the built-in tool?') })],
        approve: (pending) => ({ type: pending.toolDigest === toolDigest ? 'approve' : 'deny' }),
      },
    );
    // Any other outcome means a different tool, or arguments that this one does not take.
    if (outcome.kind !== 'ok' && outcome.kind !== 'failed') return {};
    if (parentId !== undefined) {
      return { changesUnknown: 'The enclosing call is still running, and its changes are unknown here.' };
    }
    return outcome.kind === 'ok' ? { changes } : { changesUnknown: outcome.message };
  } finally {
    await session.close();
  }
}

/** `previewCall` over the files of a workspace, which is opened on first use. */
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
    // New parent folders follow from the path.
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

// Larger files are reported by size only.
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
    if (isHoldfastError(thrown) && thrown.reason === 'binary') return { bytes: found.size };
    throw thrown;
  }
}
