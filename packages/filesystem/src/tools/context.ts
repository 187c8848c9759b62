import { type Filesystem, isHoldfastError, type ToolContext, type ToolResult, toolError } from '@holdfast/core';

/**
 * Runs a file tool on the call's filesystem. What the filesystem refuses becomes the tool's own failure, with the same code and
 * message; without a filesystem that is `filesystem.missing`.
 */
export async function useFilesystem<Value>(
  { filesystem }: ToolContext,
  run: (filesystem: Filesystem) => Promise<ToolResult<Value>>,
): Promise<ToolResult<Value>> {
  if (filesystem === undefined) {
    return toolError('There are no files in this run: the host bound no resource `filesystem`.', {
      code: 'filesystem.missing',
    });
  }
  try {
    return await run(filesystem);
  } catch (error) {
    if (isHoldfastError(error)) return toolError(error.message, { code: error.code, value: error.data });
    throw error;
  }
}
