import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { ask, type Clock, definePolicy, defineTool, systemClock, toolError } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { checkPlan, runPlan } from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { toPageFiles } from '../studio/page-files.ts';
import { serveStudio } from '../studio/server.ts';
import { prepareLogPath } from '../workspace/session-logs.ts';
import { createTestHost, type TestHostOptions } from './test-host.ts';

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A studio of a folder, with raw requests to it. */
export interface TestStudio extends AsyncDisposable {
  readonly link: string;
  readonly authority: string;
  /** The headers that the page sends. */
  readonly own: { readonly read: Readonly<Record<string, string>>; readonly answer: Readonly<Record<string, string>> };
  send(asked: Asked): Promise<Answered>;
  /** Reads as the page does. */
  read(path: string): Promise<Record<string, unknown>>;
  answer(body: object): Promise<Answered>;
}

export async function openTestStudio(
  options: TestHostOptions,
  page: readonly string[] = ['<html>', 'script', 'css'],
): Promise<TestStudio> {
  const { host } = createTestHost(options);
  const studio = await serveStudio({ page: toPageFiles(page), port: 0 }, host);
  const { host: authority, hash, port } = new URL(studio.link);
  const secrets = new URLSearchParams(hash.slice(1));
  const read = { authorization: `Bearer ${secrets.get('read')}` };
  const answer = {
    ...read,
    origin: `http://${authority}`,
    'content-type': 'application/json',
    'x-holdfast-answer': secrets.get('answer') ?? '',
  };
  const send = async ({ method = 'GET', path, headers = {}, body }: Asked): Promise<Answered> => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { host: authority, ...headers } });
    sent.end(body);
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, headers: response.headers, text };
  };
  return {
    link: studio.link,
    authority,
    own: { read, answer },
    send,
    async read(path) {
      return JSON.parse((await send({ path: `/api/${path}`, headers: read })).text);
    },
    answer: (body) => send({ method: 'POST', path: '/api/answer', headers: answer, body: JSON.stringify(body) }),
    [Symbol.asyncDispose]: () => studio.close(),
  };
}

/** A session in which writing `path` waits for a person. */
export async function askToWrite(
  folder: string,
  {
    id,
    path,
    content,
    clock = systemClock,
  }: { readonly id: string; readonly path: string; readonly content: string; readonly clock?: Clock },
): Promise<void> {
  const session = createSession({ id, clock, store: createJsonlLog(await prepareLogPath(folder, id)) });
  await executeToolCall(
    { id: 'write-1', name: 'write_file', arguments: { path, content } },
    {
      tools: fileTools(),
      session,
      clock,
      resources: { filesystem: hostFilesystem(folder) },
      policies: [definePolicy({ name: 'files', check: () => ask('It changes a file.') })],
    },
  );
  await session.close();
}

/** A session that ran a plan: `b` fails, and `c`, which needs `a` and `b`, is skipped. */
export async function runTestPlan(folder: string, id: string, purpose: string): Promise<void> {
  const common = { description: 'Does it.', effects: 'none' } as const;
  const tools = [
    defineTool({ ...common, name: 'fetch', execute: () => 'fetched' }),
    defineTool({
      ...common,
      name: 'fail',
      execute: () => toolError('The server answered 503.', { code: 'server.down' }),
    }),
  ];
  const nodes = [
    { id: 'a', tool: 'fetch', metadata: { purpose } },
    { id: 'b', tool: 'fail', on_fail: 'skip_dependents' },
    { id: 'c', tool: 'fetch', depends_on: ['a', 'b'] },
  ];
  const found = await checkPlan({ nodes, final_output_node: 'c' }, { tools });
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  const session = createSession({ id, store: createJsonlLog(await prepareLogPath(folder, id)) });
  await runPlan(found.checked, { tools, session });
  await session.close();
}
