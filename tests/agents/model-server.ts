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
  /** The bodies of all requests, in order. */
  readonly requests: readonly string[];
}

/** Implements the part of OpenAI Responses that an agent needs. */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[],"models":[]}');
        return;
      }
      const text = Buffer.concat(chunks).toString('utf8');
      const turn = requests.push(text) - 1;
      const said = typeof script === 'function' ? script(text) : script[Math.min(turn, script.length - 1)];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of toEvents(said ?? [], turn)) {
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function toEvents(said: readonly Said[], turn: number): readonly ServerEvent[] {
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
