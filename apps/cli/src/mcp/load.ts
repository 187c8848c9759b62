import { HoldfastError } from '@holdfast/core';
import { hasCode } from '../terminal/system.ts';

export type McpPackage = typeof import('@holdfast/mcp');

/**
 * The package that speaks MCP. It is large, and installed only where it is used.
 *
 * @throws HoldfastError `mcp.unreachable`.
 */
export async function loadMcp(load: () => Promise<McpPackage> = () => import('@holdfast/mcp')): Promise<McpPackage> {
  try {
    return await load();
  } catch (cause) {
    if (!hasCode(cause, 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new HoldfastError(
      'mcp.unreachable',
      'This command needs the package `@holdfast/mcp`, which is not installed.',
      {
        data: {
          reason: 'not_installed',
          hint: 'Install it where `holdfast` is installed: `npm install @holdfast/mcp`, with `-g` if that is global.',
        },
        cause,
      },
    );
  }
}
