import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, decisions } from '@holdfast/guard';
import { codex } from '@holdfast/guard/agents';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { guardPolicies } from './coding.ts';
import { switchOff } from './off.ts';
import { type ReportedRun, reportRun, withReportedRuns } from './runs.ts';

const line = 'holdfast guard run -- npm test';

function open({ path }: TestFolder) {
  const host = { environment: { HOME: '/home/u', HOLDFAST_HOME: `${path}/own` }, directory: path };
  const session = createSession({ slices: [decisions] });
  const view = { folder: path, workspace: path, home: '/home/u', disk: nodeDisk() };
  const facts = createFacts({ describers: codex.describers, view });
  const policies = guardPolicies({ agent: 'codex', files: { policies: [], checks: [] } }, host);
  const guard = withReportedRuns(createGuard({ session, policies, facts }), {
    session,
    cwd: path,
    workspace: path,
    host,
  });
  const call = (id: string, command: string) => ({ id, name: 'Bash', input: { command }, cwd: path });
  const report = (more: Partial<ReportedRun> = {}) =>
    reportRun({ words: ['npm', 'test'], folder: path, exitCode: 0, startedAtMs: Date.now(), ...more }, host);
  return { host, guard, call, report };
}

const files = { 'package.json': '{}' };

test('a command that `guard run` has run pays into an order rule of an agent that reports no exit code', async () => {
  await using folder = await createFolder(files);
  const { guard, call, report } = open(folder);
  expect(await guard.before(call('1', 'git push'))).toMatchObject({ type: 'deny' });
  expect(await guard.before(call('2', line))).toEqual({ type: 'allow' });
  await report();
  expect(await guard.after(call('2', line), { ok: 'unknown' })).toMatchObject({ kind: 'ok' });
  expect(await guard.before(call('3', 'git push'))).toEqual({ type: 'allow' });
  // A report counts once.
  await guard.before(call('4', line));
  expect(await guard.after(call('4', line), { ok: 'unknown' })).toMatchObject({ kind: 'in-doubt' });
});

test.each<[string, string, Partial<ReportedRun>, string]>([
  ['a failure', line, { exitCode: 1 }, 'failed'],
  ['another command', line, { words: ['npm', 'run', 'lint'] }, 'in-doubt'],
  ['another folder', line, { folder: '/elsewhere' }, 'in-doubt'],
  ['a run before the call', line, { startedAtMs: Date.now() - 60_000 }, 'in-doubt'],
  ['a command with more around it', `${line}; true`, {}, 'in-doubt'],
  ['a command whose failure does not count', `${line} || true`, {}, 'in-doubt'],
])('it does not pay with %s', async (_, command, run, kind) => {
  await using folder = await createFolder(files);
  const { guard, call, report } = open(folder);
  expect(await guard.before(call('1', command))).toEqual({ type: 'allow' });
  await report(run);
  expect(await guard.after(call('1', command), { ok: 'unknown' })).toMatchObject({ kind });
  expect(await guard.before(call('2', 'git push'))).toMatchObject({ type: 'deny' });
});

test('what `guard run` runs is judged as it is', async () => {
  await using folder = await createFolder({ ...files, '.env': 'KEY=1\n' });
  const { guard, call } = open(folder);
  expect(await guard.before(call('1', 'holdfast guard run -- cat .env'))).toMatchObject({ type: 'deny' });
  expect(await guard.before(call('2', 'holdfast guard run -- holdfast approve x'))).toMatchObject({
    code: 'guard.self',
  });
});

test('while the guard is off, calls are let through, except those that would change the guard', async () => {
  await using folder = await createFolder({ ...files, '.env': 'KEY=1\n' });
  const { host } = open(folder);
  await switchOff(Date.now() + 60_000, host);
  const { guard, call } = open(folder);
  expect(await guard.before(call('1', 'cat .env'))).toEqual({ type: 'allow' });
  expect(await guard.before(call('2', 'holdfast guard off'))).toMatchObject({ code: 'guard.self' });
});
