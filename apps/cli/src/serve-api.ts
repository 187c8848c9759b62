import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Clock, HoldfastError, type Model } from '@holdfast/core';
import { askModel } from './serve-answer.ts';
import { readBody } from './serve-body.ts';
import { checkCaller } from './serve-caller.ts';
import { CompletionChunks, toCompletion } from './serve-completion.ts';
import { toApiFailure } from './serve-failure.ts';
import { readChatRequest } from './serve-request.ts';

export interface ApiOptions {
  readonly model: Model;
  /** What clients call it. */
  readonly name: string;
  /** Absent: none is wanted. */
  readonly key: string | undefined;
  readonly clock: Clock;
  /** Told of failures whose reasons clients do not get. */
  readonly report: (thrown: unknown) => void;
}

export interface Api {
  /** Not listening yet. */
  readonly server: Server;
  /** Takes no more requests, and ends the answers that are on their way. */
  end(): Promise<void>;
}

/** Whoever sends a request more slowly is let go. */
const requestTimeout = 60_000;
const maxConnections = 256;
/** Of one answer in parts: whoever reads it so slowly is let go. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** How long a client is waited for that does not read its last answer. */
const lastWordsMs = 1_000;

/** A model behind the part of OpenAI's API that its clients need for conversations with tools. */
export function createApi(options: ApiOptions): Api {
  const open = new Map<AbortController, Promise<void>>();
  const server = createServer({ requestTimeout }, (request, response) => {
    const controller = new AbortController();
    const done = respond(request, response, { ...options, controller });
    open.set(controller, done);
    void done.then(() => open.delete(controller));
  });
  server.maxConnections = maxConnections;
  return {
    server,
    async end() {
      server.close();
      for (const controller of open.keys()) {
        controller.abort(new HoldfastError('serve.closing', 'This server is being closed.'));
      }
      await new Promise<void>((resolve) => {
        const cancel = options.clock.after(lastWordsMs, resolve);
        void Promise.all(open.values()).then(() => {
          cancel();
          resolve();
        });
      });
      server.closeAllConnections();
    },
  };
}

interface Responding extends ApiOptions {
  readonly controller: AbortController;
}

/** Never rejects; resolves when the client has the answer, or has gone. */
async function respond(request: IncomingMessage, response: ServerResponse, responding: Responding): Promise<void> {
  const { controller, report } = responding;
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      controller.abort(new Error('The client has gone.'));
      resolve();
    });
  });
  // It has gone: `close` says so.
  response.on('error', () => undefined);
  try {
    await route(request, response, responding);
  } catch (thrown) {
    // Nobody is left to be told.
    if (response.destroyed) return;
    const { status, headers, error, isHidden } = toApiFailure(thrown);
    if (isHidden) report(thrown);
    if (response.headersSent) response.end(toEvent({ error }));
    else sendJson(response, { status, headers, body: { error } });
    // A client that is cut off while it sends would not read why.
    request.resume();
  }
  await closed;
}

const models = '/v1/models';

async function route(request: IncomingMessage, response: ServerResponse, responding: Responding): Promise<void> {
  checkCaller(request.headers, responding.key);
  const { name } = responding;
  const [path = ''] = (request.url ?? '').split('?');
  if (path === '/v1/chat/completions') {
    checkMethod(request, 'POST');
    await complete(request, response, responding);
  } else if (path === models) {
    checkMethod(request, 'GET');
    sendJson(response, { body: { object: 'list', data: [describeModel(name)] } });
  } else if (path.startsWith(`${models}/`)) {
    checkMethod(request, 'GET');
    checkModel(decodePath(path.slice(models.length + 1)), name);
    sendJson(response, { body: describeModel(name) });
  } else {
    throw new HoldfastError(
      'serve.route_unknown',
      'There is nothing at this address: `/v1/models` and `/v1/chat/completions` are served.',
    );
  }
}

async function complete(request: IncomingMessage, response: ServerResponse, responding: Responding): Promise<void> {
  const { model, name, clock, controller } = responding;
  const chat = readChatRequest(await readBody(request));
  checkModel(chat.model ?? name, name);
  const completion = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(clock.now() / 1000), model: name };
  const asking = { signal: controller.signal, createId: () => `call_${randomUUID().replaceAll('-', '')}` };
  if (!chat.stream) {
    sendJson(response, { body: toCompletion(completion, await askModel(model, chat, asking)) });
    return;
  }
  const chunks = new CompletionChunks(completion, chat.includeUsage);
  // Not before there is something to say: until then a failure has a status of its own.
  const begin = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    response.write(toEvent(chunks.begin()));
  };
  const answer = await askModel(model, chat, {
    ...asking,
    onText(text) {
      if (text === '') return;
      begin();
      response.write(toEvent(chunks.text(text)));
      if (response.writableLength > maxUnreadBytes) response.destroy();
    },
  });
  begin();
  for (const chunk of chunks.end(answer)) response.write(toEvent(chunk));
  response.end('data: [DONE]\n\n');
}

function toEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

interface JsonResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

function sendJson(response: ServerResponse, { status = 200, headers = {}, body }: JsonResponse): void {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': length });
  response.end(text);
}

function describeModel(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'holdfast' };
}

function checkModel(asked: string, name: string): void {
  if (asked === name) return;
  throw new HoldfastError(
    'serve.model_unknown',
    `There is no model ${JSON.stringify(asked.slice(0, 100))} here: \`${name}\` is served.`,
    { data: { param: 'model' } },
  );
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No encoding at all; nor is it the name of a model.
    return text;
  }
}

function checkMethod({ method }: IncomingMessage, allow: string): void {
  if (method === allow) return;
  throw new HoldfastError('serve.method_refused', `This address takes ${allow} only.`, { data: { allow } });
}
