import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, shellFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { releaseOrder } from '@holdfast/pack-release';
import { packPolicies } from '@holdfast/policy';
import { createSession, type Session } from '@holdfast/session';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';

/** Lines in real bash, where `npm` stands for the checks and `git push` leaves a mark: what the pack lets through never pushes unchecked. */

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-release-')));
const work = join(root, 'w');
for (const folder of ['bin', 'w/.git', 'w/sub', 'w/other/.git']) mkdirSync(join(root, folder), { recursive: true });
writeFileSync(join(work, 'package.json'), '{}');
const program = (name: string, body: string): void => {
  writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(root, 'bin', name), 0o755);
};
program('npm', `test -e ${root}/passes`);
program('git', `case "$1" in push) touch ${root}/pushed;; esac`);
afterAll(() => rmSync(root, { recursive: true }));

interface Ran {
  readonly succeeded: boolean;
  readonly pushed: boolean;
}

function run(line: string, passes: boolean): Ran {
  for (const mark of ['passes', 'pushed']) rmSync(join(root, mark), { force: true });
  if (passes) writeFileSync(join(root, 'passes'), '');
  const PATH = `${join(root, 'bin')}:/usr/bin:/bin`;
  const { status } = spawnSync('bash', ['-c', line], {
    cwd: work,
    env: { PATH, HOME: root },
    input: '',
    timeout: 10_000,
  });
  // Background work of a line that has ended gets its time.
  if (line.includes('&')) spawnSync('sleep', ['0.05']);
  return { succeeded: status === 0, pushed: existsSync(join(root, 'pushed')) };
}

const bash = defineTool({
  name: 'bash',
  description: 'Stands in for a shell.',
  inputSchema: v.object({ command: v.string() }),
  execute: () => null,
});
const facts = createFacts({
  describers: [shellFacts()],
  view: { folder: work, workspace: work, disk: nodeDisk(work) },
});
const policies = packPolicies(releaseOrder);

async function decide(command: string, session: Session = createSession()): Promise<string> {
  const call = { name: 'bash', arguments: { command } };
  return (await executeToolCall(call, { session, tools: [bash], policies, facts })).kind;
}

test.each([
  { line: 'npm test && git push', right: true },
  { line: 'npm test && git push origin main', right: true },
  { line: 'npm run test && npm run check && git push', right: true },
  { line: 'cd sub && npm test && git push', right: true },
  { line: '(npm test) && git push', right: true },
  { line: '{ npm test; } && git push', right: true },
  { line: 'npm test && ls && git push', right: true },
  { line: 'npm test && { git push; }', right: true },
  { line: 'npm test && (cd sub && git push)', right: true },
  { line: 'set -e; npm test; git push', right: true },
  { line: 'set -e\nnpm test\ngit push', right: true },
  { line: "bash -ec 'npm test; git push'", right: true },
  { line: 'npm test || exit 1; git push', right: true },
  { line: 'set -o pipefail; npm test | tail && git push', right: true },
  { line: 'if npm test; then git push; fi', right: true },
  { line: 'npm test >/dev/null 2>&1 && git push', right: true },
  { line: 'CI=1 npm test && git push', right: true },
  { line: 'timeout 5 npm test && git push', right: true },
  { line: 'npm test > /tmp/holdfast-log.txt && git push', right: true },
  { line: 'npm test; git push', right: false },
  { line: 'npm test | tail && git push', right: false },
  { line: 'npm test || true; git push', right: false },
  { line: 'npm test || git push', right: false },
  { line: 'npm test & git push', right: false },
  { line: '! npm test && git push', right: false },
  { line: 'git push && npm test', right: false },
  { line: 'git push', right: false },
  { line: 'echo npm test && git push', right: false },
  { line: 'npm test --if-present && git push', right: false },
  { line: 'npm() { true; }; npm test && git push', right: false },
  { line: 'npm install && git push', right: false },
  { line: 'cd other && npm test && cd .. && git push', right: false },
  { line: 'npm test && echo x > sub/new.txt && git push', right: false },
  { line: 'npm test && rm -f sub/new.txt && git push', right: false },
  { line: 'npm test $ARGS && git push', right: false },
  { line: 'if ! npm test; then git push; fi', right: false },
  { line: 'npm test && eval "$X"; git push', right: false },
  { line: 'PATH=/tmp:$PATH npm test && git push', right: false },
  { line: 'while ! npm test; do git push; break; done', right: false },
  { line: 'npm test; [ $? = 0 ] && git push', right: false },
  { line: "sh -c 'npm test; git push'", right: false },
])('in one call, right is $right: $line', async ({ line, right }) => {
  expect(await decide(line)).toBe(right ? 'ok' : 'denied');
  if (!right) return;
  // The table of what is let through holds in bash.
  expect(run(line, false)).toMatchObject({ pushed: false });
  expect(run(line, true)).toEqual({ succeeded: true, pushed: true });
});

test.each([
  { line: 'npm test', proves: true },
  { line: 'npm test && echo done', proves: true },
  { line: 'echo start; npm test', proves: true },
  { line: 'cd sub && npm test', proves: true },
  { line: 'set -o pipefail; npm test | tail', proves: true },
  { line: 'npm test || exit 3', proves: true },
  { line: 'npm test; true', proves: false },
  { line: 'npm test || true', proves: false },
  { line: 'npm test | tail', proves: false },
  { line: 'npm test &', proves: false },
  { line: 'if npm test; then echo good; fi', proves: false },
  { line: '! npm test', proves: false },
  { line: 'cd other && npm test', proves: false },
  { line: 'npm test > log.txt', proves: false },
  { line: 'npm --version', proves: false },
])('a call before proves $proves: $line', async ({ line, proves }) => {
  const session = createSession();
  await decide(line, session);
  expect(await decide('git push', session)).toBe(proves ? 'ok' : 'denied');
  if (proves) {
    expect(run(line, false).succeeded).toBe(false);
    expect(run(line, true).succeeded).toBe(true);
  }
});

test.each(['echo x > sub/new.txt', 'rm -rf sub', 'sed -i s/a/b/ sub/a.txt', 'frobnicate', 'eval "$x"'])(
  'what succeeded before a change does not count: %s',
  async (change) => {
    const session = createSession();
    await decide('npm test', session);
    await decide('ls -la && git status', session);
    expect(await decide('git push', session)).toBe('ok');
    await decide(change, session);
    expect(await decide('git push', session)).toBe('denied');
    await decide('npm test', session);
    expect(await decide('git push', session)).toBe('ok');
  },
);
