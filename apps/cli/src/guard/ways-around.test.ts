import { readFileSync } from 'node:fs';
import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard } from '@holdfast/guard';
import { claudeCode } from '@holdfast/guard/agents';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { codingPolicies } from './coding.ts';

/** The rows of the guide's table. */
function readWays(): readonly (readonly [way: string, call: string, answer: string])[] {
  const guide = readFileSync(new URL('../../../docs/guide/guard.md', import.meta.url), 'utf8');
  const [, section = ''] = guide.split('## How an agent might get around its guard');
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \| `(.+)` \| \**([a-z ]+)\** \|$/gm)].map(
    ([, way = '', call = '', answer = '']) => [way, call.replaceAll(String.raw`\|`, '|'), answer],
  );
}

const ways = readWays();

test('the table of the guide is read whole, and has each kind of way', () => {
  expect(ways.length).toBeGreaterThanOrEqual(30);
  expect(new Set(ways.map(([, call]) => call)).size).toBe(ways.length);
  const kinds = new Set(ways.map(([way]) => way));
  for (const kind of [
    ...['a command', 'a script', 'an alias', 'a terminal of its own', 'another terminal', 'later', 'the token'],
    ...['the socket', 'a signal', 'its files', 'the trust file', 'settings', 'the environment', 'the path'],
  ])
    expect(kinds).toContain(kind);
  expect(ways.filter(([, , answer]) => !['denied', 'asked', 'not held'].includes(answer))).toEqual([]);
});

test.each(ways)('%s: %s is %s', async (_, call, answer) => {
  await using folder = await createFolder({ 'package.json': '{}', '.git/HEAD': '' });
  const { path } = folder;
  const environment = { HOME: '/home/u', XDG_CONFIG_HOME: '/home/u/.config' };
  const policies = codingPolicies('claude-code', { environment, directory: path });
  const view = { folder: path, workspace: path, home: '/home/u', disk: nodeDisk() };
  const facts = createFacts({ describers: claudeCode.describers, view });
  const guard = createGuard({ session: createSession(), policies, facts });
  const [, file] = /^Write (\S+)$/.exec(call) ?? [];
  const tool =
    file === undefined
      ? { name: 'Bash', input: { command: call } }
      : { name: 'Write', input: { file_path: `${path}/${file}`, content: '{}' } };
  const verdict = await guard.before({ id: '1', ...tool, cwd: path });
  expect(verdict.type).toBe({ denied: 'deny', asked: 'ask', 'not held': 'allow' }[answer]);
  if (verdict.type === 'deny') expect(verdict.code).toBe('guard.self');
});
