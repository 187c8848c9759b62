import type { CallFacts } from '@holdfast/core';
import { describeCommand, fileFacts, noFacts } from '@holdfast/facts';
import { expect, test } from 'vitest';
import { guardSelf } from '../index.ts';

const policy = guardSelf({
  paths: ['/home/u/.local/state/holdfast', '/home/u/.config/holdfast', '/home/u/.claude/settings.json'],
  processes: [4711],
});
const view = { folder: '/w', workspace: '/w', home: '/home/u' };
const judge = (facts: CallFacts | undefined) =>
  policy.check({ id: '1', tool: {} as never, input: {}, ...(facts === undefined ? {} : { facts }) }, {} as never);

test.each([
  'holdfast approve call-7',
  'npx holdfast approve call-7',
  'npx --yes holdfast@latest deny x',
  'pnpm dlx holdfast guard off',
  './node_modules/.bin/holdfast guard uninstall claude-code',
  'sudo -u root holdfast approve x',
  'echo y | holdfast approve x',
  "sh -c 'holdfast approve x'",
  'true && env -i holdfast approve x',
  'script -c "holdfast approve x" /dev/null',
  'holdfast guard run',
  'holdfast guard run npm test',
  'HOLDFAST_HOME=/tmp/x claude -p hi',
  'export HOLDFAST_HOME=/tmp/x; codex exec hi',
  'pkill -f holdfast',
  'killall holdfast',
  'kill 4711',
  'kill -9 1 4711',
  'kill -STOP -- -4711',
  'sudo kill 4711',
  'pkill -f guard-hook-main',
  'kill $(pgrep -f holdfast-guard)',
  'kill "$(pidof holdfast-guard)"',
  'ps ax | grep holdfast | xargs kill',
  'rm ~/.local/state/holdfast/guard/daemon/s-0a1b2c3d',
  'chmod 777 ~/.local/state/holdfast/guard/daemon',
  'mv ~/.local/state/holdfast/guard/daemon/daemon.json /tmp/x',
  'cat ~/.local/state/holdfast/guard/daemon/daemon.json',
  'rm -rf ~/.local/state/holdfast',
  'rm -rf ~/.local',
  'mv ~/.config/holdfast /tmp',
  'cat ~/.config/holdfast/redaction.key',
  'echo "{}" > ~/.claude/settings.json',
  'echo "{}" > .claude/settings.local.json',
  'sed -i s/holdfast/true/ .codex/hooks.json',
  'cp x .Claude/Settings.json',
  'rm holdfast.policy.json',
  'git checkout HEAD -- holdfast.policy.json',
])('%s is denied', (line) => {
  expect(judge(describeCommand(line, view))).toMatchObject({ type: 'deny', code: 'guard.self' });
});

test.each([
  'ls',
  'npm test',
  'holdfast guard run -- npm test',
  'grep -rn holdfast src',
  'cat holdfast.policy.json',
  'cat .claude/settings.json',
  'git commit -m "holdfast approve"',
  'kill 123',
  'ps ax | grep holdfast',
  'kill 123 && pgrep node',
  'echo x > src/holdfast.ts',
  'rm -rf dist',
])('%s is let through', (line) => {
  expect(judge(describeCommand(line, view))).toMatchObject({ type: 'allow' });
});

test('an editor tool, and a call of which nothing is known, meet the same rule', () => {
  const write = fileFacts().describe({ tool: 'Write', input: { file_path: '/w/.codex/config.toml' } }, view);
  expect(judge(write)).toMatchObject({ code: 'guard.self' });
  expect(judge(undefined)).toMatchObject({ code: 'guard.self' });
  expect(judge(noFacts)).toMatchObject({ type: 'allow' });
});
