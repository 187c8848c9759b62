import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as v from 'valibot';

export interface ChatServer extends AsyncDisposable {
  readonly url: string;
}

const asked = v.object({ stream: v.optional(v.boolean()), messages: v.array(v.looseObject({ role: v.string() })) });
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** Implements OpenAI chat completions: calls `refund` with `input` until it sees a tool result, then says "Done.". */
export async function startChatServer(input: object): Promise<ChatServer> {
  let answers = 0;
  const call = { id: 'call-1', type: 'function', function: { name: 'refund', arguments: JSON.stringify(input) } };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { stream, messages } = v.parse(asked, await json(request));
    const done = messages.some(({ role }) => role === 'tool');
    const message = { role: 'assistant', content: done ? 'Done.' : '', ...(done ? {} : { tool_calls: [call] }) };
    const finish_reason = done ? 'stop' : 'tool_calls';
    answers += 1;
    const base = { id: `answer-${answers}`, created: 1, model: 'gpt-5', usage };
    if (stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message, finish_reason }];
      response.end(JSON.stringify({ ...base, object: 'chat.completion', choices }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = done ? message : { ...message, tool_calls: [{ index: 0, ...call }] };
    for (const choice of [
      { index: 0, delta, finish_reason: null },
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
