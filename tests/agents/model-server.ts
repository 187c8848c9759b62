import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One message of the scripted model: calls or text. */
export type Said =
  | { readonly call: string; readonly arguments: object; readonly namespace?: string }
  | { readonly text: string };

/** The messages of a model, one after the other and the last one again; or made from the request. */
export type Script = readonly (readonly Said[])[] | ((request: string) => readonly Said[]);

/** A model on this machine that says what a script has. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** The bodies of the requests for the script's messages, in order. */
  readonly requests: readonly string[];
  /** The bodies of other requests: a title, a summary. */
  readonly others: readonly string[];
}

/** Implements the parts of OpenAI Responses, OpenAI Chat Completions and Gemini that agents need. */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const requests: string[] = [];
  const others: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const json = { 'content-type': 'application/json' };
      const dialect = request.method === 'POST' ? findDialect(request.url ?? '', text) : undefined;
      if (dialect === undefined) {
        others.push(text);
        const part = { content: { role: 'model', parts: [{ text: '{}' }] }, finishReason: 'STOP' };
        response.writeHead(200, json).end(JSON.stringify({ object: 'list', data: [], models: [], candidates: [part] }));
        return;
      }
      const turn = requests.push(text) - 1;
      const said = typeof script === 'function' ? script(text) : script[Math.min(turn, script.length - 1)];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of dialect(said ?? [], turn)) {
        if ('type' in event) response.write(`event: ${String(event['type'])}\n`);
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    others,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type ServerEvent = Readonly<Record<string, unknown>>;
type Dialect = (said: readonly Said[], turn: number) => readonly ServerEvent[];

/** By the address. A chat without tools asks for a title. */
function findDialect(url: string, text: string): Dialect | undefined {
  if (url.endsWith('/responses')) return toResponses;
  if (url.endsWith('/chat/completions')) return text.includes('"tools":[{') ? toChat : undefined;
  return url.includes(':streamGenerateContent') ? toGemini : undefined;
}

function toGemini(said: readonly Said[]): readonly ServerEvent[] {
  const parts = said.map((part) =>
    'text' in part ? part : { functionCall: { name: part.call, args: part.arguments } },
  );
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [{ candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata }];
}

function toChat(said: readonly Said[], turn: number): readonly ServerEvent[] {
  const calls = said.flatMap((part, index) =>
    'text' in part
      ? []
      : [
          {
            index,
            id: `call-${turn}-${index}`,
            type: 'function',
            function: { name: part.call, arguments: JSON.stringify(part.arguments) },
          },
        ],
  );
  const content = said.map((part) => ('text' in part ? part.text : '')).join('');
  const toChunk = (delta: object, finish_reason: string | null): ServerEvent => ({
    id: `chat-${turn}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return [
    toChunk({ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }, null),
    { ...toChunk({}, calls.length === 0 ? 'stop' : 'tool_calls'), usage },
  ];
}

function toResponses(said: readonly Said[], turn: number): readonly ServerEvent[] {
  const id = `response-${turn}`;
  const output = said.map((part, index) => toItem(part, `${turn}-${index}`));
  const usage = {
    input_tokens: 1,
    input_tokens_details: null,
    output_tokens: 1,
    output_tokens_details: null,
    total_tokens: 2,
  };
  return [
    { type: 'response.created', response: { id } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { id, output, usage } },
  ];
}

function toItem(part: Said, key: string): object {
  if ('text' in part) {
    const content = [{ type: 'output_text', text: part.text, annotations: [] }];
    return { type: 'message', id: `message-${key}`, role: 'assistant', content };
  }
  return {
    type: 'function_call',
    id: `item-${key}`,
    call_id: `call-${key}`,
    name: part.call,
    ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
    arguments: JSON.stringify(part.arguments),
  };
}
