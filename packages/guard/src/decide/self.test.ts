import type { CallFacts, Json } from '@holdfast/core';
import { describeCommand, fileFacts, mcpFacts, noFacts } from '@holdfast/facts';
import { expect, test } from 'vitest';
import { guardSelf } from '../index.ts';

const policy = guardSelf({
  paths: ['/home/u/.local/state/holdfast', '/home/u/.config/holdfast', '/home/u/.claude/settings.json'],
  processes: [4711],
  ports: [40_404],
});
const view = { folder: '/w', workspace: '/w', home: '/home/u' };
const judge = (facts: CallFacts | undefined, input: Json = {}) =>
  policy.check({ id: '1', tool: {} as never, input, ...(facts === undefined ? {} : { facts }) }, {} as never);

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
  'echo > /srv/plugins/holdfast-pi/index.js',
  'rm -rf ../plugins/holdfast-opencode',
  'echo "{}" > ~/.cursor/hooks.json',
  'rm ~/.copilot/hooks/holdfast.json',
  'git checkout HEAD -- holdfast.policy.json',
  'socat - UNIX-CONNECT:$HOME/.local/state/holdfast/guard/daemon/s-0a1b2c3d',
  'cd ~/.local/state/holdfast/guard/daemon && socat - UNIX-CONNECT:s-0a1b2c3d',
  `python3 -c "import socket; s.connect('/home/u/.local/state/holdfast/guard/daemon/s-0a1b2c3d')"`,
  `node -e "net.connect(process.env.HOME + '/.local/state/holdfast/guard/daemon/s-0a1b2c3d')"`,
  `python3 - <<'X'\nopen("/home/u/.local/state/holdfast/guard/off.json", "w")\nX`,
  'D=$HOME/.local/state; some-program --socket=$D/holdfast/guard/daemon/s-0a1b2c3d',
  'curl -d @event.json http://127.0.0.1:40404/holdfast/claude-code',
  'curl -d @event.json http://localhost:40404/holdfast/claude-code',
  'wget --post-data=x http://127.1:40404/',
  `python3 -c "urlopen('http://127.0.0.1:40404/holdfast/claude-code', data)"`,
  'ssh localhost socat - UNIX-CONNECT:.local/state/holdfast/guard/daemon/s-0a1b2c3d',
])('%s is denied', (command) => {
  expect(judge(describeCommand(command, view), { command })).toMatchObject({ type: 'deny', code: 'guard.self' });
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
  'grep -rn .local/state/holdfast docs',
  'curl http://127.0.0.1:3000/',
  'curl http://example.com:40404/',
  'git commit -m "Explain ~/.local/state/holdfast/guard"',
])('%s is let through', (command) => {
  expect(judge(describeCommand(command, view), { command })).toMatchObject({ type: 'allow' });
});

test.each<[string, Json]>([
  ['mcp__net__connect', { socket: 'unix:///home/u/.local/state/holdfast/guard/daemon/s-0a1b2c3d' }],
  ['mcp__run__python', { code: ['open(home + ".config/holdfast/redaction.key")'] }],
  ['mcp__files__read_file', { path: '/home/u/.local/state/holdfast/guard/daemon/daemon.json' }],
])('%s of an MCP server with %j is denied', (tool, input) => {
  const [, server = ''] = tool.split('__');
  expect(judge(mcpFacts({ server }).describe({ tool, input }, view), input)).toMatchObject({ code: 'guard.self' });
});

test('an editor tool, and a call of which nothing is known, meet the same rule', () => {
  const write = fileFacts().describe({ tool: 'Write', input: { file_path: '/w/.codex/config.toml' } }, view);
  expect(judge(write)).toMatchObject({ code: 'guard.self' });
  expect(judge(undefined)).toMatchObject({ code: 'guard.self' });
  expect(judge(noFacts)).toMatchObject({ type: 'allow' });
});
