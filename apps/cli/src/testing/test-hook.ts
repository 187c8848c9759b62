import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLog } from '@holdfast/session/jsonl';
import { type Announcement, daemonFolder, readAnnouncement } from '../guard/daemon/place.ts';
import { type Daemon, serveGuard } from '../guard/daemon/serve.ts';
import { keepFromStarting } from '../guard/daemon/start.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { findLogFolder } from '../workspace/session-logs.ts';
import { createFolder, type TestFolder } from './test-folder.ts';

export const hookProgram: string = fileURLToPath(new URL('../guard-hook-main.ts', import.meta.url));

export interface HookAnswered {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartedHook {
  readonly answer: Promise<HookAnswered>;
  kill(): void;
}

/** Starts the hook's own process, as an agent does. */
export function startHook(
  input: string,
  home: string,
  agent = 'claude-code',
  flags: readonly string[] = [],
  words: readonly string[] = [],
): StartedHook {
  const child = spawn(process.execPath, ['--conditions=holdfast-source', ...flags, hookProgram, agent, ...words], {
    env: { ...process.env, ...toHost(home).environment },
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const answer = new Promise<HookAnswered>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...written }));
  });
  return { answer, kill: () => void child.kill('SIGKILL') };
}

export function toHost(home: string): GuardHost {
  const environment = { ...process.env, HOME: home, HOLDFAST_HOME: join(home, 'own') };
  return { environment, directory: process.cwd() };
}

interface TestTool {
  readonly name: string;
  readonly input: object;
}

export const bash = (command: string): TestTool => ({ name: 'Bash', input: { command } });

/** An event as Claude Code sends it to its hook. */
export function toEvent(cwd: string, event: string, id: string, { name, input }: TestTool, more: object = {}): string {
  return JSON.stringify({
    session_id: 's-1',
    cwd,
    permission_mode: 'default',
    hook_event_name: event,
    tool_name: name,
    tool_input: input,
    tool_use_id: id,
    ...more,
  });
}

/** A workspace and home in one, with hooks. */
export interface HookWorld extends AsyncDisposable {
  readonly folder: TestFolder;
  readonly host: GuardHost;
  readonly daemon: Daemon | undefined;
  start(event: string, id: string, tool: TestTool, more?: object): StartedHook;
}

/** `here`: this process is the daemon. `none`: hooks cannot start one. `own`: they do. */
export type DaemonMode = 'here' | 'none' | 'own';

export async function createHookWorld(
  mode: DaemonMode,
  files: Readonly<Record<string, string>> = { '.env': 'KEY=CANARY-7431\n', 'a.txt': 'hi\n' },
): Promise<HookWorld> {
  const folder = await createFolder(files);
  const host = toHost(folder.path);
  if (mode === 'none') keepFromStarting(host);
  const daemon = mode === 'here' ? await serveGuard(hookProgram, host) : undefined;
  return {
    folder,
    host,
    daemon,
    start: (event, id, tool, more) => startHook(toEvent(folder.path, event, id, tool, more), folder.path),
    async [Symbol.asyncDispose]() {
      await daemon?.end();
      if (mode === 'own') await stopDaemon(await untilAnnounced(host), 'SIGTERM');
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Resolves when the log of `s-1` has a record of this type. */
export async function untilRecorded(host: GuardHost, type: string): Promise<void> {
  const folder = findLogFolder(guardFolder(host));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'claude-code-s-1.jsonl');
  await untilChanged(
    folder,
    () => (existsSync(path) && readLog(path).records.some((one) => one.type === type)) || undefined,
  );
}

/** The daemon that hooks have started, once it is up. `before`: one that was killed. */
export function untilAnnounced(host: GuardHost, before?: Announcement): Promise<Announcement> {
  return untilFound(host, (found) => (found?.pid === before?.pid ? undefined : found));
}

export async function untilGone(host: GuardHost): Promise<void> {
  await untilFound(host, (found) => found === undefined || undefined);
}

function untilFound<T>(host: GuardHost, look: (found: Announcement | undefined) => T | undefined): Promise<T> {
  const folder = daemonFolder(host);
  return untilChanged(folder, () => look(readAnnouncement(folder)));
}

async function untilChanged<T>(folder: string, look: () => T | undefined): Promise<T> {
  const abort = new AbortController();
  const changes = watch(folder, { signal: abort.signal })[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Watched first: a change while it looks is not missed.
      const change = changes.next();
      change.catch(() => undefined);
      const found = look();
      if (found !== undefined) return found;
      await change;
    }
  } finally {
    abort.abort();
  }
}

/** Resolves when the process has ended: its end closes a connection to it. */
export async function stopDaemon({ pid, socket }: Announcement, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const connection = connect(socket);
  await once(connection, 'connect');
  // Killed, it resets the connection.
  connection.on('error', () => undefined).resume();
  const closed = new Promise((resolve) => connection.once('close', resolve));
  process.kill(pid, signal);
  await closed;
}
