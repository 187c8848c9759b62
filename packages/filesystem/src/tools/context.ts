import { type Filesystem, isHoldfastError, type ToolContext, type ToolResult, toolError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';

/**
 * Runs a file tool on the call's filesystem. An error of the filesystem becomes the tool's own failure, with the same code, its message and
 * advice; without a filesystem it is `filesystem.missing`.
 */
export async function useFilesystem<Value>(
  { filesystem }: ToolContext,
  run: (filesystem: Filesystem) => Promise<ToolResult<Value>>,
): Promise<ToolResult<Value>> {
  if (filesystem === undefined) {
    return toolError('No filesystem is available: the host did not bind the resource `filesystem`.', {
      code: 'filesystem.missing',
    });
  }
  try {
    return await run(filesystem);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const { code, reason, message } = error;
    const next = advice.get(describeCode({ code, reason }));
    return toolError(next === undefined ? message : `${message} ${next}`, { code, reason });
  }
}

const advice: ReadonlyMap<string, string> = new Map([
  ['file.missing', 'Find existing files with `list_files` or `glob_files`.'],
  ['file.invalid: is_directory', 'List its content with `list_files`.'],
  ['file.invalid: binary', 'It cannot be read, searched or edited as text.'],
]);
