import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as v from 'valibot';

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

export interface ChatServer extends AsyncDisposable {
  readonly url: string;
  /** The messages of each request. */
  readonly requests: (readonly Message[])[];
}

/** A call as the model writes it. */
export interface ServedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const told = v.looseObject({ role: v.string(), content: v.optional(v.unknown()) });
const asked = v.object({ stream: v.optional(v.boolean()), messages: v.array(told) });
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/**
 * Implements OpenAI chat completions: makes `calls` until it sees a tool result, with `once` only in its first answer, then says "Done.".
 */
export async function startChatServer(
  calls: readonly ServedCall[],
  { once: isOnce = false }: { readonly once?: boolean } = {},
): Promise<ChatServer> {
  const requests: (readonly Message[])[] = [];
  const tool_calls = calls.map(({ id, name, arguments: text }, index) => ({
    ...{ index, id, type: 'function' },
    function: { name, arguments: text },
  }));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { stream, messages } = v.parse(asked, await json(request));
    const done = isOnce ? requests.length > 0 : messages.some(({ role }) => role === 'tool');
    requests.push(messages);
    const message = { role: 'assistant', content: done ? 'Done.' : '', ...(done ? {} : { tool_calls }) };
    const finish_reason = done ? 'stop' : 'tool_calls';
    const base = { id: `answer-${requests.length}`, created: 1, model: 'gpt-5', usage };
    if (stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message, finish_reason }];
      response.end(JSON.stringify({ ...base, object: 'chat.completion', choices }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const choice of [
      { index: 0, delta: message, finish_reason: null },
      { index: 0, delta: {}, finish_reason },
    ]) {
      const chunk = { ...base, object: 'chat.completion.chunk', choices: [choice] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
