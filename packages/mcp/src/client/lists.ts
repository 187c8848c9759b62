import { HoldfastError, isHoldfastError, type JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { ProtocolErrorCode, type ServerCapabilities } from '@modelcontextprotocol/client';
import type { Connection } from './connection.ts';
import { type McpDefinition, toDefinition } from './definition.ts';

/** Pages of one list that are read before the server counts as broken, and the definitions on them. */
const mostPages = 1_000;
const mostDefinitions = 10_000;

/** A list of a server. */
export type ListedKind = 'tools' | 'resources' | 'templates' | 'prompts';

interface ListDeclaration {
  readonly method: string;
  /** The key of the list in a result, and of what identifies a definition. */
  readonly key: string;
  readonly id: string;
  readonly of: 'tools' | 'resources' | 'prompts';
}

export const lists: Readonly<Record<ListedKind, ListDeclaration>> = {
  tools: { method: 'tools/list', key: 'tools', id: 'name', of: 'tools' },
  resources: { method: 'resources/list', key: 'resources', id: 'uri', of: 'resources' },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates', id: 'uriTemplate', of: 'resources' },
  prompts: { method: 'prompts/list', key: 'prompts', id: 'name', of: 'prompts' },
};

export type ContentKind = Exclude<ListedKind, 'tools'>;
export const contentKinds: readonly ContentKind[] = ['resources', 'templates', 'prompts'];

export type Listed = Readonly<Record<ListedKind, readonly McpDefinition[]>>;

/** Every page of the lists of resources and prompts; `undefined` if the server does not give them. */
export async function listContent(
  connection: Connection,
  server: string,
  capabilities: ServerCapabilities,
): Promise<Omit<Listed, 'tools'> | undefined> {
  const read = async (kind: ContentKind): Promise<readonly McpDefinition[]> => {
    if (capabilities[lists[kind].of] === undefined) return [];
    return listAll(connection, server, kind).catch((thrown: unknown) => {
      if (isMissing(thrown)) return [];
      throw thrown;
    });
  };
  try {
    return { resources: await read('resources'), templates: await read('templates'), prompts: await read('prompts') };
  } catch (thrown) {
    // A server that is broken here still has its tools; with pins, what cannot be compared is withheld.
    if (isHoldfastError(thrown) && thrown.code === 'mcp.error') return undefined;
    throw thrown;
  }
}

/** A server with resources need not have templates. */
function isMissing(thrown: unknown): boolean {
  if (!isHoldfastError(thrown) || !isPlainObject(thrown.data)) return false;
  return thrown.data['rpcCode'] === ProtocolErrorCode.MethodNotFound;
}

/** Every page of one list of a server. @throws HoldfastError `mcp.error`, and as `Connection.request`. */
export async function listAll(
  connection: Connection,
  server: string,
  kind: ListedKind,
): Promise<readonly McpDefinition[]> {
  const { method, key, id } = lists[kind];
  const found = new Map<string, McpDefinition>();
  const cursors = new Set<string>();
  const fail = (what: string): HoldfastError =>
    new HoldfastError('mcp.error', `The list of ${kind} of the MCP server \`${server}\` ${what}.`, {
      data: { reason: 'list', server, list: kind },
    });
  let cursor: string | undefined;
  do {
    const { [key]: page, nextCursor } = await connection.request(method, cursor === undefined ? {} : { cursor });
    if (!Array.isArray(page)) throw fail('is not a list');
    for (const listed of page) {
      const definition = isPlainObject(listed) ? toDefinition(listed as JsonObject, id) : undefined;
      if (definition === undefined) throw fail(`has one without \`${id}\``);
      if (found.has(definition.name)) throw fail(`has \`${definition.name.slice(0, 128)}\` twice`);
      found.set(definition.name, definition);
    }
    cursor = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
    if (cursor !== undefined && cursors.has(cursor)) throw fail('never ends');
    if (cursor !== undefined) cursors.add(cursor);
    if (cursors.size > mostPages || found.size > mostDefinitions) throw fail('is too long');
  } while (cursor !== undefined);
  return [...found.values()];
}
