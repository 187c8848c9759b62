import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelUsage, ToolCall } from '@holdfast/core';

const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));

/** `holdfast serve --openai` in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly model: string;
  /** What it has told its own people. */
  stderr(): string;
}

/** Starts a server from the sources. The folder: this repository, where the packages of the local model are. */
export async function startServer(argv: readonly string[], folder: string = root): Promise<Server> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, NO_COLOR: '1' };
  const child = spawn(
    process.execPath,
    ['--conditions=holdfast-source', program, 'serve', '--openai', '--port', '0', '--json', ...argv],
    { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'close');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as readonly unknown[];
  if (!Buffer.isBuffer(line)) throw new Error(`The server did not start: ${stderr}`);
  const { url, model } = JSON.parse(line.toString()) as { readonly url: string; readonly model: string };
  return {
    url,
    model,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT');
      const [exitCode]: readonly unknown[] = await ended;
      if (exitCode !== 0) throw new Error(`The server ended with ${String(exitCode)}: ${stderr}`);
    },
  };
}

/** What the played model does when it is asked. With a code, it throws an error of that code. */
export type Reply =
  | {
      readonly text?: string;
      readonly calls?: readonly ToolCall[];
      readonly finish?: 'length';
      readonly usage?: ModelUsage;
    }
  | { readonly throw: { readonly code?: string; readonly message: string } };

/** What it was asked. */
export interface Asked {
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly tools: readonly { readonly name: string }[];
  readonly output?: object;
  readonly maxTokens?: number;
}

/** A server of a model that gives the replies one after another. */
export interface PlayedServer extends Server {
  /** From now on these, from the first on, whatever has been asked before. */
  play(replies: readonly Reply[]): Promise<void>;
  asked(): Promise<readonly Asked[]>;
}

const plugin = `import { appendFileSync, readFileSync } from 'node:fs';
import { definePlugin, HoldfastError } from '${import.meta.resolve('@holdfast/core')}';
import { scriptedModel } from '${import.meta.resolve('@holdfast/testing')}';
const place = (name) => new URL(name, import.meta.url);
const read = (name) => readFileSync(place(name), 'utf8');
async function* stream(request) {
  const { messages, tools, output, maxTokens } = request;
  const reply = JSON.parse(read('replies.json'))[read('asked.jsonl').split('\\n').length - 1];
  appendFileSync(place('asked.jsonl'), JSON.stringify({ messages, tools, output, maxTokens }) + '\\n');
  if (reply === undefined) throw new Error('There is no further reply.');
  if ('throw' in reply) {
    const { code, message } = reply.throw;
    throw code === undefined ? new Error(message) : new HoldfastError(code, message);
  }
  yield* scriptedModel([reply]).stream(request);
}
export default definePlugin({
  name: 'played', version: '1.0.0', description: 'Plays a model.', holdfast: '*',
  models: [{ name: 'model', description: 'Gives replies.', create: () => ({ id: 'played', stream }) }],
});
`;

export async function startPlayed(): Promise<PlayedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-openai-'));
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const play = async (replies: readonly Reply[]): Promise<void> => {
    await write('replies.json', JSON.stringify(replies));
    await write('asked.jsonl', '');
  };
  await write('played.mjs', plugin);
  await write('holdfast.config.mjs', "export default { plugins: ['./played.mjs'] };\n");
  await play([]);
  const server = await startServer(['--config', 'holdfast.config.mjs', '--model', 'played/model'], folder);
  return {
    ...server,
    play,
    async asked() {
      const lines = (await readFile(join(folder, 'asked.jsonl'), 'utf8')).trimEnd();
      return lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line) as Asked);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
