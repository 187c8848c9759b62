import { HoldfastError, type JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Connection } from './connection.ts';
import { type McpDefinition, toDefinition } from './definition.ts';

/** Pages of one list that are read before the server counts as broken, and the tools on them. */
const mostPages = 1_000;
const mostTools = 10_000;

/** Every page of a server's list of tools. @throws HoldfastError `mcp.list.invalid`, and as `Connection.request`. */
export async function listTools(connection: Connection, server: string): Promise<readonly McpDefinition[]> {
  const found = new Map<string, McpDefinition>();
  const cursors = new Set<string>();
  const fail = (what: string): HoldfastError =>
    new HoldfastError('mcp.list.invalid', `The tool list of the MCP server \`${server}\` ${what}.`, {
      data: { server },
    });
  let cursor: string | undefined;
  do {
    const { tools, nextCursor } = await connection.request('tools/list', cursor === undefined ? {} : { cursor });
    if (!Array.isArray(tools)) throw fail('is not a list');
    for (const tool of tools) {
      const definition = isPlainObject(tool) ? toDefinition(tool as JsonObject) : undefined;
      if (definition === undefined) throw fail('has a tool without a name');
      if (found.has(definition.name)) throw fail(`has \`${definition.name.slice(0, 128)}\` twice`);
      found.set(definition.name, definition);
    }
    cursor = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
    if (cursor !== undefined && cursors.has(cursor)) throw fail('never ends');
    if (cursor !== undefined) cursors.add(cursor);
    if (cursors.size > mostPages || found.size > mostTools) throw fail('is too long');
  } while (cursor !== undefined);
  return [...found.values()];
}
