import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import type { HookAnswer } from '@holdfast/guard/agents';
import { isSameSecret } from '../../terminal/same-secret.ts';
import { agents, type HookQuestion } from '../hook.ts';
import { type HttpPlace, httpPathPrefix } from '../http-place.ts';

const maxQuestionBytes = 64 * 1_048_576;

/** `isGone`: nobody reads the answer any longer. */
export type HttpAnswerer = (question: HookQuestion, isGone: () => boolean) => Promise<HookAnswer>;

/** Answers hooks on the loopback interface. Anything but an agent's own request gets 403 and no text. */
export function listenForHttp({ port, token }: HttpPlace, answer: HttpAnswerer): Server {
  const server = createServer((request, response) => {
    respond(request, response, { port, token, answer }).catch(() => response.destroy());
  });
  return server.listen(port, '127.0.0.1');
}

interface Responding extends HttpPlace {
  readonly answer: HttpAnswerer;
}

async function respond(request: IncomingMessage, response: ServerResponse, place: Responding): Promise<void> {
  // An agent that uses a connection again just as it is closed would see a failure.
  response.setHeader('connection', 'close');
  const agent = readAgent(request, place);
  if (agent === undefined) {
    response.writeHead(403).end();
    return;
  }
  const text = await readBody(request);
  const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const waitMs = Number(/^\d{1,4}$/.exec(searchParams.get('wait') ?? '')?.[0] ?? 0) * 1000;
  const { stdout, stderr, exitCode } = await place.answer({ agent, text, waitMs }, () => response.closed);
  const body = exitCode === 0 ? stdout : toDenial(agent, { text, reason: stderr.trim() });
  // Another status is a failure of the hook, which denies.
  response.writeHead(body === undefined ? 500 : 200, { 'content-type': 'application/json' }).end(body ?? stderr);
}

/** A page in a browser sends an `Origin`, and after a change of its name's address another `Host`. It cannot know the token. */
function readAgent({ method, url = '', headers }: IncomingMessage, { port, token }: HttpPlace): string | undefined {
  const [path = ''] = url.split('?');
  const isOwn =
    method === 'POST' &&
    path.startsWith(httpPathPrefix) &&
    headers.host === `127.0.0.1:${port}` &&
    headers.origin === undefined &&
    isSameSecret(headers.authorization ?? '', `Bearer ${token}`);
  const agent = path.slice(httpPathPrefix.length);
  return isOwn && Object.hasOwn(agents, agent) ? agent : undefined;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > maxQuestionBytes) throw new Error('too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The answer to a call, for a command hook that says it by its exit code. */
function toDenial(
  agent: string,
  { text, reason }: { readonly text: string; readonly reason: string },
): string | undefined {
  const parsed = parseJson(text, { maxLength: maxQuestionBytes });
  const event = parsed.ok && isPlainObject(parsed.value) ? parsed.value['hook_event_name'] : undefined;
  if (event !== 'PreToolUse') return undefined;
  return agents[agent]?.answer({ type: 'deny', reason, code: 'guard.failed' }, { name: '', input: {} }).stdout;
}
