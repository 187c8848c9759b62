import type { Json, ToolContext } from '@holdfast/core';
import { type HostMessage, maxTraceLength } from './call-messages.ts';
import { toImportUrl } from './import-url.ts';
import type { PinnedTool } from './pinned-tool.ts';

/** A tool, and what has been found to be the digest of the file to import, in hexadecimal. */
export interface VerifiedTool {
  readonly tool: PinnedTool;
  readonly sha256: string;
}

/** What a tool's process has to know of a call. */
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
