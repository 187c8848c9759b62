import type { PlaceView } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { describeCommand } from '../describe/shell.ts';
import { memoryDisk } from '../places/memory-disk.ts';
import { allowRuleSchema, type FactRules, factPolicy } from './fact-policy.ts';

const disk = memoryDisk({
  '/w/.env': '',
  '/w/src/a.ts': '',
  '/w/src/b.ts': '',
  '/w/docs/a.md': '',
  '/w/docs/key': { link: '/w/.env' },
  '/etc/passwd': '',
});
const view: PlaceView = { folder: '/w', workspace: '/w', disk };

/** The decision on a command line. Such a policy only looks at the facts and the place. */
async function answer(rules: FactRules, line: string | undefined) {
  const policy = factPolicy(rules, { source: 'holdfast.policy.json' });
  const call = line === undefined ? {} : { facts: describeCommand(line, view) };
  return await policy.check(call as never, { place: view } as never);
}

const pushing: FactRules = {
  deny: [{ runs: 'git push --force' }],
  ask: [{ runs: 'git push' }],
  allow: [{ runs: 'git push origin main' }],
};
const reading: FactRules = { ask: [{ reads: '**' }], allow: [{ reads: 'docs/**' }] };
const reaching: FactRules = { ask: [{ reaches: '*' }], allow: [{ reaches: 'a.example.org' }] };

test.each<{ rules: FactRules; line: string; type: string }>([
  { rules: {}, line: 'cat .env', type: 'allow' },
  { rules: { deny: [{ reads: 'secrets' }] }, line: 'cat .env', type: 'deny' },
  { rules: { deny: [{ reads: 'secrets' }] }, line: 'cat src/a.ts', type: 'allow' },
  // A denial overrides a question in any order, and an exception does not lift it.
  { rules: { ask: [{ reads: '.env' }], deny: [{ reads: 'secrets' }] }, line: 'cat .env', type: 'deny' },
  { rules: { deny: [{ reads: 'secrets' }], allow: [{ reads: '.env' }] }, line: 'cat .env', type: 'deny' },
  { rules: { ask: [{ reads: 'secrets' }], allow: [{ reads: '.env' }] }, line: 'cat .env', type: 'allow' },
  { rules: pushing, line: 'git push', type: 'ask' },
  { rules: pushing, line: 'git push origin main', type: 'allow' },
  { rules: pushing, line: 'git push origin main -f', type: 'deny' },
  { rules: pushing, line: 'git push origin main && git push backup', type: 'ask' },
  { rules: pushing, line: 'GIT_SSH_COMMAND=./x git push origin main', type: 'ask' },
  { rules: pushing, line: 'git -C a push origin main', type: 'ask' },
  { rules: pushing, line: 'git push $x', type: 'deny' },
  // An exception applies to the effect that it names, not to the whole call.
  { rules: reading, line: 'cat docs/a.md', type: 'allow' },
  { rules: reading, line: 'grep -r x docs', type: 'allow' },
  { rules: reading, line: 'cat docs/a.md src/a.ts', type: 'ask' },
  { rules: reading, line: 'cat docs/key', type: 'ask' },
  { rules: reading, line: 'grep -R x docs', type: 'ask' },
  { rules: reading, line: 'cat docs/$x', type: 'ask' },
  { rules: { ask: [{ reads: 'src/**' }], allow: [{ reads: 'src/a.ts' }] }, line: 'cat src/a.ts', type: 'allow' },
  { rules: { ask: [{ reads: 'src/**' }], allow: [{ reads: 'src/a.ts' }] }, line: 'cat src/*.ts', type: 'ask' },
  { rules: { ask: [{ reads: 'outside' }], allow: [{ reads: 'etc/passwd' }] }, line: 'cat /etc/passwd', type: 'allow' },
  { rules: { ask: [{ reads: 'secrets' }], allow: [{ reads: 'outside' }] }, line: 'grep -r x /', type: 'ask' },
  { rules: { ask: [{ reads: '**' }], allow: [{ writes: '**' }] }, line: 'cat src/a.ts', type: 'ask' },
  { rules: reaching, line: 'curl https://a.example.org', type: 'allow' },
  { rules: reaching, line: 'curl -d @src/a.ts https://a.example.org', type: 'ask' },
  { rules: reaching, line: 'curl https://a.example.org https://b.example.org', type: 'ask' },
  {
    rules: { ...reaching, allow: [{ sends: '*.example.org' }] },
    line: 'curl -d @src/a.ts https://a.example.org',
    type: 'allow',
  },
])('$rules and `$line`: $type', async ({ rules, line, type }) => {
  expect(await answer(rules, line)).toMatchObject({ type });
});

test('the reason names the file and the rule', async () => {
  expect(await answer({ deny: [{ reads: 'secrets' }] }, 'cat .env')).toMatchObject({
    reason: 'It reads `.env`. Rule in `holdfast.policy.json`: deny `reads: secrets`.',
  });
});

test('the reason names the line of the rule that decided', async () => {
  const rules: FactRules = { deny: [{ deletes: 'secrets' }], ask: [{ runs: 'npm publish' }, { runs: 'git push' }] };
  const lines = new Map([
    ['deny[0]', 2],
    ['ask[1]', 5],
  ]);
  const policy = factPolicy(rules, { source: 'holdfast.policy.yaml', lines });
  const say = async (line: string) =>
    await policy.check({ facts: describeCommand(line, view) } as never, { place: view } as never);
  expect(await say('rm .env')).toMatchObject({ reason: expect.stringContaining('`holdfast.policy.yaml:2`: deny') });
  expect(await say('git push')).toMatchObject({ reason: expect.stringContaining('`holdfast.policy.yaml:5`: ask') });
  expect(await say('npm publish')).toMatchObject({ reason: expect.stringContaining('`holdfast.policy.yaml`: ask') });
});

test('a call without facts is denied under any rules', async () => {
  expect(await answer({ allow: [{ reads: '**' }] }, undefined)).toMatchObject({ type: 'deny' });
});

test('an exception must name a command', () => {
  const { issues = [] } = v.safeParse(allowRuleSchema, { runs: 'destructive' });
  expect(issues.map(({ message }) => message)).toEqual([expect.stringContaining('must name a command')]);
  expect(v.is(allowRuleSchema, { runs: 'git push' })).toBe(true);
  expect(v.is(allowRuleSchema, {})).toBe(false);
});
