import { keepOpen, type Listening, listenMcp, mcpTools, serveMcp } from '@holdfast/mcp';
import { createSession } from '@holdfast/session';
import { InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import { type CallToolResult, ResourceNotFoundError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const image = { type: 'image', data: pixel, mimeType: 'image/png' } as const;
const resource = (uri: string, text: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text } }) as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;

const results: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded-resource', 'This is an embedded resource content.')] },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', '{"test":"data","value":123}'),
    ],
  },
  test_error_handling: { content: [text('This tool intentionally returns an error for testing')], isError: true },
  test_tool_with_progress: { content: [text('done')] },
};

const prompts: Readonly<Record<string, (given: Record<string, string>) => object[]>> = {
  test_simple_prompt: () => [text('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1 = '', arg2 = '' }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = '' }) => [
    resource(resourceUri, 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ],
  test_prompt_with_image: () => [image, text('Please analyze the image above.')],
};

/** The fixtures, served in this process. */
function openFixtures(): Transport {
  const [near, far] = InMemoryTransport.createLinkedPair();
  serveStdio(
    () => {
      const server = new Server(
        { name: 'fixtures', version: '1.0.0' },
        { capabilities: { tools: {}, resources: {}, prompts: {} } },
      );
      const inputSchema = { type: 'object' as const, properties: {} };
      server.setRequestHandler('tools/list', () => ({
        tools: Object.keys(results).map((name) => ({ name, description: 'For testing.', inputSchema })),
      }));
      server.setRequestHandler('tools/call', async ({ params: { name } }, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        if (name === 'test_tool_with_progress' && progressToken !== undefined) {
          for (const progress of [0, 50, 100])
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        }
        return results[name] ?? { content: [], isError: true };
      });
      server.setRequestHandler('resources/list', () => ({
        resources: ['static-text', 'static-binary'].map((name) => ({
          uri: `test://${name}`,
          name,
          description: 'For testing.',
          mimeType: 'text/plain',
        })),
      }));
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [
          { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
        ],
      }));
      server.setRequestHandler('resources/read', ({ params: { uri } }) => {
        if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: pixel }] };
        const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? [];
        if (id !== undefined) {
          const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
          return { contents: [{ uri, mimeType: 'application/json', text: data }] };
        }
        if (uri !== 'test://static-text') throw new ResourceNotFoundError(uri);
        return {
          contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
        };
      });
      const argumentsOf: Readonly<Record<string, string[]>> = {
        test_prompt_with_arguments: ['arg1', 'arg2'],
        test_prompt_with_embedded_resource: ['resourceUri'],
      };
      server.setRequestHandler('prompts/list', () => ({
        prompts: Object.keys(prompts).map((name) => ({
          name,
          description: 'For testing.',
          arguments: (argumentsOf[name] ?? []).map((one) => ({
            name: one,
            description: 'For testing.',
            required: true,
          })),
        })),
      }));
      server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
        const contents = prompts[name]?.(given) ?? [];
        return { messages: contents.map((content) => ({ role: 'user', content })) } as never;
      });
      return server;
    },
    { transport: far },
  );
  return near;
}

/** The proxy in front of a server of the SDK with the fixtures of the conformance suite, over HTTP. */
export async function serveFixtures(): Promise<Listening> {
  const source = await mcpTools({ name: 'fixtures', transport: openFixtures, dangerous: false, inputs: 'declared' });
  const serving = serveMcp(source, { sessions: keepOpen(createSession()) });
  // The suite sends no token.
  const open: Parameters<typeof listenMcp>[0] = {
    close: serving.close.bind(serving),
    fetch: (request, access) => {
      const headers = new Headers(request.headers);
      headers.set('authorization', 'Bearer suite');
      return serving.fetch(new Request(request, { headers }), access);
    },
  };
  return await listenMcp(open, {
    tokens: new Map([['suite', 'suite']]),
    origins: ['localhost', '127.0.0.1'],
  });
}
