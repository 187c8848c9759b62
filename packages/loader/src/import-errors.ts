import { dirname } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { hidePaths } from './hide-paths.ts';
import type { PinnedTool } from './pinned-tool.ts';

/** HoldfastError `tool.file.import_failed`; `message` is what the import threw. */
export function importFailed({ file, entry }: PinnedTool, message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'tool.file.import_failed',
    `The tool file \`${file}\` cannot be imported: ${hidePaths(message, dirname(entry))}`,
    { data: { file }, cause },
  );
}

/** HoldfastError `tool.file.changed`. */
export function fileChanged(file: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'tool.file.changed',
    `The tool file \`${file}\` is not the one that was verified: load the tools again.`,
    { data: { file }, cause },
  );
}

/** HoldfastError `tool.function.not_function`. */
export function notFunction({ file, metadata }: PinnedTool): HoldfastError {
  const name = metadata.form === 'definition' ? 'execute' : metadata.function;
  return new HoldfastError(
    'tool.function.not_function',
    `\`${name}\` of the tool file \`${file}\` is no function any more: declare it once and leave it so.`,
    { data: { file } },
  );
}
