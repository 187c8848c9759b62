import { pathToFileURL } from 'node:url';
import type { Json, ToolContext } from '@holdfast/core';
import { type HostMessage, maxTraceLength } from '../child/call-messages.ts';
import type { PinnedTool } from '../language/types.ts';

/** A tool, and the verified digest of the file to import, in hexadecimal. */
export interface VerifiedTool {
  readonly tool: PinnedTool;
  readonly sha256: string;
}

/** Creates the message that starts a call in a tool's process. */
export function toCallMessage(
  call: number,
  { tool, sha256 }: VerifiedTool,
  input: Json,
  context: ToolContext,
): HostMessage {
  const { metadata } = tool;
  const { callId, idempotencyKey, deadline, filesystem, trace } = context;
  const remainingMs = deadline.remainingMs();
  return {
    type: 'call',
    call,
    url: toImportUrl(tool),
    sha256,
    ...(call === 1 && tool.files !== undefined ? { files: [...tool.files] } : {}),
    form: metadata.form,
    function: metadata.function,
    input,
    callId,
    idempotencyKey,
    remainingMs: Number.isFinite(remainingMs) ? remainingMs : null,
    filesystem: filesystem !== undefined,
    ...(trace === undefined ? {} : { trace: JSON.stringify(trace).length > maxTraceLength ? null : trace }),
  };
}

/** One URL per content: Node caches modules by URL, and would return an earlier version of this path. */
export function toImportUrl({ entry, digest }: Pick<PinnedTool, 'entry' | 'digest'>): string {
  const url = pathToFileURL(entry);
  url.searchParams.set('sha256', digest);
  return url.href;
}
