import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readLog } from '@holdfast/session/jsonl';
import { expect, inject, test } from 'vitest';
import {
  bash,
  createHookWorld,
  type HookWorld,
  hookProgram,
  toEvent,
  untilAnnounced,
} from '../../testing/test-hook.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { answerHook } from '../hook.ts';
import { askDaemon } from './ask.ts';
import { daemonFolder, readAnnouncement } from './place.ts';

/** Ends its process without a word before its step number `step`: a change of a file, an announcement, an answer. */
const killer = (step: number) =>
  `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import promises from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  import net from 'node:net';
  let left = ${step};
  const patched = [
    [fs, ['openSync', 'writeSync', 'linkSync', 'renameSync', 'rmSync', 'chmodSync', 'mkdirSync', 'closeSync']],
    [promises, ['mkdir', 'writeFile', 'rename']],
    [net.Server.prototype, ['listen']],
    [net.Socket.prototype, ['end']],
  ];
  for (const [target, names] of patched) for (const name of names) {
    const real = target[name];
    target[name] = function (...words) {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return real.apply(this, words);
    };
  }
  syncBuiltinESMExports();
`)}`;

/** As the hook does. */
async function decide({ folder, host }: HookWorld, event: string, id: string, command: string) {
  const question = {
    agent: 'claude-code',
    text: toEvent(folder.path, event, id, bash(command), { tool_response: 'x' }),
  };
  const daemon = readAnnouncement(daemonFolder(host));
  const answered = daemon && (await askDaemon(daemon, { ...question, directory: folder.path }, 20_000));
  const untilMs = Date.now() + 20_000;
  return {
    byDaemon: answered !== undefined,
    ...(answered ?? (await answerHook(question, { ...host, untilMs, pause: (ms) => pause(ms) }))),
  };
}

/** Calls around a daemon that ends at a step; false when it had fewer. */
async function killAt(step: number): Promise<boolean> {
  await using world = await createHookWorld('none');
  const { host } = world;
  const words = ['--conditions=holdfast-source', '--import', killer(step), hookProgram, 'daemon'];
  const child = spawn(process.execPath, words, { env: { ...host.environment }, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await Promise.race([untilAnnounced(host), ended]);
  const silent = { stdout: '', stderr: '', exitCode: 0 };
  const denied = { exitCode: 0, stdout: expect.stringContaining('holds secrets') };
  expect(await decide(world, 'PreToolUse', 't1', 'ls')).toMatchObject(silent);
  expect(await decide(world, 'PreToolUse', 't2', 'cat .env')).toMatchObject(denied);
  expect(await decide(world, 'PostToolUse', 't1', 'ls')).toMatchObject(silent);
  const last = await decide(world, 'PreToolUse', 't3', 'cat .env');
  expect(last).toMatchObject(denied);
  const { records, problem } = readLog(join(guardFolder(host), '.holdfast', 'sessions', 'claude-code-s-1.jsonl'));
  expect(problem).toBeUndefined();
  const ends = records.filter(({ type }) => type === 'tool-call-end');
  // Killed between a denial and the note of it, a daemon leaves a record that says the same.
  const told = ends.map(({ callId, outcome }) => `${String(callId)} ${(outcome as { kind: string }).kind}`);
  expect(new Set(told)).toEqual(new Set(['t1 ok', 't2 denied', 't3 denied']));
  if (last.byDaemon) child.kill('SIGKILL');
  await ended;
  return !last.byDaemon;
}

test('a daemon that is killed at any of its steps lets nothing through, and no call is lost', async () => {
  const stride = inject('long') > 0 ? 1 : 9;
  let step = 1;
  while (await killAt(step)) step += stride;
  // It has that many at least: making its folder, lock and socket, a log in turns, three answers.
  expect(step).toBeGreaterThan(40);
}, 600_000);
