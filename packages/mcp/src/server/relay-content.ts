import type { JsonObject } from '@holdfast/core';
import { isCallToolResult, ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { McpTools } from '../client/imported.ts';
import { toClient } from './client-call.ts';
import type { RelayServer } from './relay-server.ts';
import type { CallServer } from './serve-call.ts';

/** Listing brings names in, and is passed on; what brings content in is a call. */
export function relayContent(server: RelayServer, relayed: McpTools, calls: CallServer): void {
  const { resources, prompts } = relayed.server.capabilities;
  const read = async (
    method: 'resources/read' | 'prompts/get',
    input: JsonObject,
    context: ServerContext,
  ): Promise<never> => {
    const name = `${relayed.name}_${method === 'resources/read' ? 'read_resource' : 'get_prompt'}`;
    const result = await calls.call({ ...toClient(server, context), method, tool: name, asked: name, input });
    if (isCallToolResult(result) && result.isError === true) {
      const [first] = result.content;
      throw new ProtocolError(ProtocolErrorCode.InternalError, first?.type === 'text' ? first.text : 'Denied.');
    }
    return result as never;
  };
  const list = async (method: string, params: object | undefined): Promise<never> =>
    server.relay(await relayed.request(method, withoutMeta(params))) as never;
  if (resources !== undefined) {
    server.setRequestHandler('resources/list', ({ params }) => list('resources/list', params));
    server.setRequestHandler('resources/templates/list', ({ params }) => list('resources/templates/list', params));
    server.setRequestHandler('resources/read', ({ params }, context) =>
      read('resources/read', { uri: params.uri }, context),
    );
  }
  if (prompts !== undefined) {
    server.setRequestHandler('prompts/list', ({ params }) => list('prompts/list', params));
    server.setRequestHandler('prompts/get', ({ params }, context) => {
      const { name, arguments: given } = params;
      return read('prompts/get', { name, ...(given === undefined ? {} : { arguments: given }) }, context);
    });
  }
}

function withoutMeta(params: object | undefined): JsonObject {
  const { _meta, ...rest } = (params ?? {}) as Record<string, never>;
  return rest;
}
