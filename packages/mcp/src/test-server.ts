import { InMemoryTransport, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import {
  type CallToolResult,
  type InputRequiredResult,
  type ReadResourceResult,
  Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

type Answer = (
  name: string,
  input: Record<string, unknown>,
  context: {
    readonly signal: AbortSignal;
    /** The answers of the user to `input_required`. */
    readonly responses: Record<string, unknown> | undefined;
    progress(message: string): Promise<void>;
    end(): void;
  },
) => Answered | Promise<Answered>;

type Answered = CallToolResult | InputRequiredResult;

export interface TestServer {
  /** Opens a new connection; both ends are in this process. */
  readonly transport: () => Transport;
  /** Names of the tools that were called, in order. */
  readonly called: string[];
  tools: Record<string, unknown>[];
  resources: Record<string, unknown>[];
  templates: Record<string, unknown>[];
  prompts: Record<string, unknown>[];
  /** Answers a call. */
  readonly answer: Answer;
  /** Reads a resource. */
  read(uri: string, responses: Record<string, unknown> | undefined): ReadResourceResult | InputRequiredResult;
  /** Tells every client that a list has changed. Default: the tools. */
  tell(which?: 'tools' | 'resources' | 'prompts'): void;
}

const listChanged = { listChanged: true };

export const anyInput = { type: 'object', properties: { text: { type: 'string' } } };

/** A server of both eras with the tools given, by the SDK. */
export function createTestServer(
  tools: Record<string, unknown>[],
  answer: Answer = (name) => ({ content: [{ type: 'text', text: `${name} done` }] }),
): TestServer {
  const servers: Server[] = [];
  const made: TestServer = {
    called: [],
    tools,
    resources: [{ uri: 'test://a', name: 'a' }],
    templates: [],
    prompts: [{ name: 'greet' }],
    answer,
    read: (uri) => ({ contents: [{ uri, text: `The text of ${uri}.` }] }),
    tell: (which = 'tools') => {
      const send = (server: Server): Promise<void> => {
        if (which === 'tools') return server.sendToolListChanged();
        return which === 'resources' ? server.sendResourceListChanged() : server.sendPromptListChanged();
      };
      void Promise.all(servers.map(send));
    },
    transport: () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      serveStdio(
        () => {
          const server = new Server(
            { name: 'test-server', version: '1.2.3', title: 'A test server' },
            {
              capabilities: { tools: listChanged, resources: listChanged, prompts: listChanged },
              instructions: 'Be kind.',
            },
          );
          servers.push(server);
          server.setRequestHandler('tools/list', () => ({ tools: made.tools as never }));
          server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }, { mcpReq }) => {
            made.called.push(name);
            const progressToken = mcpReq._meta?.progressToken;
            return answer(name, input, {
              signal: mcpReq.signal,
              responses: mcpReq.inputResponses,
              progress: async (message) => {
                if (progressToken === undefined) return;
                const params = { progressToken, progress: 1, message };
                await mcpReq.notify({ method: 'notifications/progress', params });
              },
              end: () => void far.close(),
            });
          });
          server.setRequestHandler('resources/list', () => ({ resources: made.resources as never }));
          server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: made.templates as never }));
          server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq }) =>
            made.read(uri, mcpReq.inputResponses),
          );
          server.setRequestHandler('prompts/list', () => ({ prompts: made.prompts as never }));
          server.setRequestHandler('prompts/get', ({ params }) => ({
            messages: [{ role: 'user', content: { type: 'text', text: `Greet ${params.arguments?.['who']}.` } }],
          }));
          return server;
        },
        { transport: far },
      );
      return near;
    },
  };
  return made;
}

interface RawRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** A server of 2025 that answers with whatever `respond` sends, valid or not. */
export function createRawServer(
  respond: (request: RawRequest, send: (message: object) => void, end: () => void) => void,
  onReply: (result: Record<string, unknown>, send: (message: object) => void) => void = () => undefined,
  capabilities: object = { tools: { listChanged: true } },
): () => Transport {
  return () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const send = (message: object): void => void far.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
    far.onmessage = (message) => {
      if ('result' in message) onReply(message.result, send);
      if (!('method' in message)) return;
      const request = message as RawRequest;
      if (request.method === 'initialize') {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities,
          serverInfo: { name: 'raw', version: '1' },
        };
        send({ id: request.id, result });
      } else if (!request.method.startsWith('notifications/initialized')) {
        respond(request, send, () => void far.close());
      }
    };
    void far.start();
    return near;
  };
}
