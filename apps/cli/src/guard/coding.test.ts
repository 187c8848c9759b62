import { createFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { createGuard, type Guard, type GuardReport } from '@holdfast/guard';
import { type Agent, claudeCode, codex } from '@holdfast/guard/agents';
import { createSession } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { codingPolicies } from './coding.ts';

interface Scripted {
  before(command: string): Promise<string>;
  /** Makes the call and reports it. */
  run(command: string, ok?: GuardReport['ok']): Promise<string>;
}

const files = { 'package.json': '{}', 'src/a.ts': '' };

function open({ path }: TestFolder, agent: Agent = claudeCode, checks: readonly string[] = []): Guard {
  const host = { environment: { HOME: '/home/u' }, directory: path };
  const view = { folder: path, workspace: path, home: '/home/u', disk: nodeDisk() };
  const facts = createFacts({ describers: agent.describers, view });
  return createGuard({
    session: createSession(),
    policies: codingPolicies(agent.name, host, { policies: [], checks }),
    facts,
  });
}

function start(folder: TestFolder, agent: Agent = claudeCode, checks: readonly string[] = []): Scripted {
  const guard = open(folder, agent, checks);
  let count = 0;
  const call = (command: string) => ({ id: `c${count}`, name: 'Bash', input: { command }, cwd: folder.path });
  const before = async (command: string): Promise<string> => {
    count += 1;
    const verdict = await guard.before(call(command));
    return verdict.type === 'allow' ? 'allow' : `${verdict.type}: ${verdict.reason}`;
  };
  return {
    before,
    async run(command, ok = true) {
      const verdict = await before(command);
      if (verdict === 'allow') await guard.after(call(command), { ok });
      return verdict;
    },
  };
}

test.each(['make lint', './check.sh --all', 'npm test'])('with `checks` of the user, `%s` counts', async (check) => {
  await using folder = await createFolder(files);
  const guard = start(folder, claudeCode, ['make lint', './check.sh']);
  expect(await guard.run('git push')).toMatch(/no check has succeeded/);
  await guard.run(check, false);
  expect(await guard.run('git push')).toMatch(/no check has succeeded/);
  await guard.run(check);
  // `git push` sends data, which a person may be asked about.
  expect(await guard.run('git push')).not.toMatch(/no check has succeeded/);
});

describe('a push comes after a check that has succeeded', () => {
  test.each<readonly [string, readonly (readonly [string, GuardReport['ok']?])[], RegExp]>([
    ['at once', [], /no check has succeeded/],
    ['after the tests', [['npm test']], /^allow$/],
    ['after tests that failed', [['npm test', false]], /no check has succeeded/],
    ['after tests whose result is not known', [['npm test', 'unknown']], /no check has succeeded/],
    ['after tests and a look', [['npm test'], ['git status && ls']], /^allow$/],
    ['after tests and a change', [['npm test'], ['echo x > src/a.ts']], /no check has succeeded/],
    [
      'after tests and a change whose result is not known',
      [['npm test'], ['echo x > src/a.ts', 'unknown']],
      /no check has succeeded/,
    ],
    [
      'after tests and a change in a call that failed',
      [['npm test'], ['sed -i s/a/b/ src/a.ts; false', false]],
      /no check has succeeded/,
    ],
    [
      'after such a change, and tests',
      [['npm test'], ['sed -i s/a/b/ src/a.ts; false', false], ['npm test']],
      /^allow$/,
    ],
    ['after tests and a failure that changes nothing', [['npm test'], ['grep x src/a.ts', false]], /^allow$/],
    ['after a check that is not in `checks`', [['make lint']], /no check has succeeded/],
    [
      'after a change whose result is not known, and tests',
      [['npm test'], ['echo x > src/a.ts', 'unknown'], ['npm test']],
      /^allow$/,
    ],
  ])('%s', async (_, calls, answer) => {
    await using folder = await createFolder(files);
    const agent = start(folder);
    for (const [command, ok] of calls) expect(await agent.run(command, ok)).toBe('allow');
    expect(await agent.before('git push')).toMatch(answer);
  });

  test('in one call', async () => {
    await using folder = await createFolder(files);
    expect(await start(folder, codex).before('npm test && git push')).toBe('allow');
  });

  test('and where the agent reports no exit code, the denial names the command that does', async () => {
    await using folder = await createFolder(files);
    expect(await start(folder, codex).before('git push')).toContain('`holdfast guard run -- npm test`');
    expect(await start(folder).before('git push')).not.toContain('guard run');
    expect(await start(folder, codex).before('cat .env')).not.toContain('guard run');
  });
});

test('a tool that writes files needs no filesystem of ours', async () => {
  await using folder = await createFolder(files);
  const write = { name: 'write_file', input: { path: `${folder.path}/src/a.ts`, content: 'x' }, cwd: folder.path };
  expect(await open(folder).before({ id: '1', ...write })).toEqual({ type: 'allow' });
});
