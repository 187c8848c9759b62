import { HoldfastError } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import type { McpTools, McpToolsOptions } from './imported.ts';
import { ServerTools } from './server-tools.ts';

const rules = {
  name: 'text!',
  command: 'text',
  args: 'list',
  env: 'object',
  cwd: 'text',
  stderr: 'text',
  url: 'text',
  headers: 'object',
  authProvider: 'object',
  transport: 'function',
  trust: 'text',
  dangerous: 'boolean',
  inputs: 'text',
  era: 'text',
  elicit: 'any',
  asks: 'list',
  onEvent: 'function',
  traceparent: 'function',
  pins: 'object',
  client: 'object',
} as const;

const plainName = /^[a-z0-9_-]{1,24}$/;

/**
 * Connects to an MCP server and makes tools of what it offers: its tools, and what reads its resources and prompts. Each call runs on
 * the path of every other call. Unless the host says otherwise, each is asked about, counts as an effect outside and is never repeated.
 *
 * @throws HoldfastError `options.invalid`, `mcp.unreachable`, `mcp.error`, `tool.process.lost`.
 */
export async function mcpTools(options: McpToolsOptions): Promise<McpTools> {
  checkOptions('mcpTools', options, rules);
  const { name, elicit } = options;
  if (elicit !== undefined && elicit !== 'client' && typeof elicit !== 'function') {
    throw new HoldfastError('options.invalid', "`elicit` must be a function or `'client'`.", {
      data: { reason: 'elicit' },
    });
  }
  if (!plainName.test(name)) {
    throw new HoldfastError(
      'options.invalid',
      `\`name\` must be 1 to 24 of a-z, 0-9, _ and -, got \`${name.slice(0, 100)}\`.`,
      {
        data: { reason: 'name' },
      },
    );
  }
  const imported = new ServerTools(options);
  try {
    await imported.refresh();
    return imported;
  } catch (thrown) {
    await imported.close();
    throw thrown;
  }
}
