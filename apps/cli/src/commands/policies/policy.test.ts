import { appendFile } from 'node:fs/promises';
import { defineTool, type Policy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { callBudget, denyTools, observe, requireApproval } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { createRedactor } from '@holdfast/session/redact';
import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { runHere, runMain } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';
import { prepareLogPath } from '../../workspace/session-logs.ts';

type Step = readonly [tool: string, input?: Record<string, unknown>];

const tools = ['read_file', 'pay', 'send'].map((name) =>
  defineTool({
    name,
    description: 'Does something.',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { path: { type: 'string' }, euros: { type: 'number' }, to: { type: 'string' } },
    }),
    effects: 'state',
    execute: () => null,
  }),
);

async function record(
  folder: string,
  id: string,
  steps: readonly Step[],
  policies: readonly Policy[] = [],
): Promise<string> {
  const path = await prepareLogPath(folder, id);
  const redactor = createRedactor({ key: 'k'.repeat(32), secrets: ['hunter2-hunter2'] });
  const session = createSession({ id, store: createJsonlLog(path), redactor });
  for (const [index, [name, input = {}]] of steps.entries()) {
    await executeToolCall({ id: `c${index}`, name, arguments: input }, { tools, session, policies, unattended: true });
  }
  await session.close();
  return path;
}

function toPack({ version = '1.0.0', limit = 'euros > maxEuros' } = {}): string {
  return `import { jsonSchema } from '${import.meta.resolve('@holdfast/schema/json')}';
import { allow, definePack, definePolicy, deny } from '${import.meta.resolve('@holdfast/core')}';
console.log('what a module prints');
export default definePack({
  name: 'money',
  version: '${version}',
  description: 'Money is kept.',
  configSchema: jsonSchema({ type: 'object', properties: { maxEuros: { type: 'number' } }, required: ['maxEuros'] }),
  presets: {
    recommended: { description: 'A hundred.', config: { maxEuros: 100 } },
    strict: { description: 'Ten.', config: { maxEuros: 10 } },
  },
  policies: ({ maxEuros }: { maxEuros: number }) => [
    definePolicy({
      name: 'max-euros',
      check({ tool, input }) {
        if (tool.name !== 'pay') return allow;
        const { euros } = input as { euros: number };
        return ${limit} ? deny(\`At most \${maxEuros} euros.\`) : allow;
      },
    }),
  ],
});
`;
}

const steps: readonly Step[] = [
  ['read_file', { path: 'a.txt' }],
  ['pay', { euros: 5 }],
  ['pay', { euros: 50 }],
  ['pay', { euros: 500 }],
];

async function diff(argv: readonly string[], folder: string) {
  return runHere(['policy', 'diff', ...argv], { directory: folder });
}

async function diffJson(argv: readonly string[], folder: string) {
  const { exitCode, stdout, stderr } = await diff([...argv, '--json'], folder);
  const printed = JSON.parse(stdout);
  expect({ stderr, issues: findIssues(await readSchema('policy-diff'), printed) }).toEqual({ stderr: '', issues: [] });
  return { exitCode, printed };
}

test('policy diff: a stricter preset tightens, a looser one widens and exits with 1; each call is listed', async () => {
  await using folder = await createFolder({ 'pack.ts': toPack() });
  await record(folder.path, 'first', steps);
  await record(folder.path, 'second', steps.slice(2));
  const tightened = await diff(['--pack', 'pack.ts', '--from', 'recommended', '--to', 'strict'], folder.path);
  expect({ ...tightened, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect(tightened.stdout).toMatch(/^money 1\.0\.0 \(recommended\) → money 1\.0\.0 \(strict\)\n\n/);
  expect(tightened.stdout).toMatch(
    /\ntightened +first +c2 +pay +allow +deny +\{"euros":50\} {2}after: At most 10 euros\.\n/,
  );
  expect(tightened.stdout).toMatch(
    /\nreason +second +c1 +pay +deny +deny +.*before: At most 100 euros\. {2}after: At most 10/,
  );
  expect(tightened.stdout).toMatch(
    /\n6 calls of 2 sessions: 0 widened, 2 tightened, 2 with a different reason, 0 unknown, 2 the same\n$/,
  );

  const widened = await runMain(['policy', 'diff', '--pack', 'pack.ts', '--from', 'strict', '--to', 'recommended'], {
    folder: folder.path,
    environment: { NO_COLOR: '1' },
  });
  expect({ ...widened, stdout: '' }).toEqual({ exitCode: 1, stdout: '', stderr: 'what a module prints\n' });
  expect(widened.stdout).toMatch(/\nwidened +first +c2 +pay +deny +allow .*\nwidened +second +c0 +pay +deny +allow /);
  const { exitCode, printed } = await diffJson(
    ['second', '--pack', 'pack.ts', '--from', 'strict', '--to', 'recommended'],
    folder.path,
  );
  expect(exitCode).toBe(1);
  expect(printed).toMatchObject({
    before: { pack: 'money', version: '1.0.0', preset: 'strict' },
    counts: { same: 0, tightened: 0, widened: 1, reason: 1, unknown: 0 },
    sessions: [
      {
        id: 'second',
        damaged: false,
        calls: [
          { callId: 'c0', change: 'widened' },
          { callId: 'c1', change: 'reason' },
        ],
      },
    ],
  });
});

test('policy diff: two versions of a pack, with a preset and host options', async () => {
  await using folder = await createFolder({
    'old.ts': toPack(),
    'new/index.ts': toPack({ version: '1.1.0', limit: 'euros > maxEuros * 2' }),
    'options.json': '{ "maxEuros": 300 }',
  });
  await record(folder.path, 'first', steps);
  const sides = ['--from', './old.ts', '--to', 'new'];
  const plain = await diffJson(sides, folder.path);
  expect(plain).toMatchObject({
    exitCode: 0,
    printed: { after: { version: '1.1.0', preset: 'recommended' }, counts: { widened: 0, same: 4 } },
  });
  const strict = await diffJson([...sides, '--preset', 'strict'], folder.path);
  expect(strict).toMatchObject({ exitCode: 0, printed: { counts: { widened: 0 } } });
  const options = await diffJson([...sides, '--options', 'options.json'], folder.path);
  expect(options).toMatchObject({ exitCode: 1, printed: { counts: { widened: 1, same: 3 } } });
});

test('policy diff: calls that need data missing from the log are reported as unknown', async () => {
  await using folder = await createFolder({
    'pack.ts': toPack({ limit: "(input as { to?: string }).to === 'x' || euros > maxEuros" }),
  });
  await record(folder.path, 'first', [
    ['pay', { euros: 50, to: 'hunter2-hunter2' }],
    ['send', { to: 'hunter2-hunter2' }],
  ]);
  const { exitCode, stdout } = await diff(
    ['--pack', 'pack.ts', '--from', 'strict', '--to', 'recommended'],
    folder.path,
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /\nunknown +first +c0 +pay +unknown +unknown +.*\[redacted:[0-9a-f]{12}\].*the arguments contained a secret/,
  );
  expect(stdout).toMatch(/\n2 calls of 1 session: 0 widened, .* 1 unknown, 1 the same\nUnknown: /);
});

test('policy diff: the valid part of a damaged log is compared, with exit code 1', async () => {
  await using folder = await createFolder({ 'pack.ts': toPack() });
  await appendFile(await record(folder.path, 'first', steps), '{"half');
  const { exitCode, stdout, stderr } = await diff(
    ['--pack', 'pack.ts', '--from', 'strict', '--to', 'strict', '--json'],
    folder.path,
  );
  expect(exitCode).toBe(1);
  expect(stderr).toContain('warning: the log is torn');
  expect(JSON.parse(stdout)).toMatchObject({ counts: { same: 4 }, sessions: [{ damaged: true }] });
});

test.each<{ argv: readonly string[]; files?: Record<string, string>; code: string; says?: string }>([
  { argv: ['--pack', 'pack.ts', '--from', 'strict', '--to', 'night'], code: 'pack.invalid: preset.unknown' },
  {
    argv: ['--pack', 'pack.ts', '--from', 'strict', '--to', 'recommended', '--preset', 'strict'],
    code: 'usage.invalid: preset_twice',
  },
  { argv: ['--pack', 'gone.ts', '--from', 'strict', '--to', 'recommended'], code: 'usage.invalid: pack_missing' },
  { argv: ['--from', 'pack.ts', '--to', 'gone.ts'], code: 'usage.invalid: pack_missing' },
  { argv: ['--from', 'pack.ts', '--to', 'pack.ts', 'gone'], code: 'usage.invalid: session_unknown' },
  { argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--workspace', 'gone'], code: 'usage.invalid: workspace_missing' },
  {
    argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--workspace', 'elsewhere'],
    files: { 'elsewhere/notes.txt': '' },
    code: 'usage.invalid: session_unknown',
  },
  {
    argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--options', 'gone.json'],
    code: 'usage.invalid: options_invalid',
    says: 'cannot be read',
  },
  {
    argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--options', 'o.json'],
    files: { 'o.json': '{"a":1,"a":2}' },
    code: 'usage.invalid: options_invalid',
    says: 'not valid JSON',
  },
  {
    argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--options', 'o.json'],
    files: { 'o.json': '[]' },
    code: 'usage.invalid: options_invalid',
    says: 'an object',
  },
  {
    argv: ['--from', 'pack.ts', '--to', 'pack.ts', '--options', 'o.json'],
    files: { 'o.json': '{"maxEuro":1}' },
    code: 'pack.invalid: config',
  },
])('policy diff $argv: $code', async ({ argv, files = {}, code, says = '' }) => {
  await using folder = await createFolder({ 'pack.ts': toPack(), ...files });
  await record(folder.path, 'first', steps);
  const ended = await diff(argv, folder.path);
  expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`(${code})`) });
  expect(ended.stderr).toContain(says);
});

test('policy diff needs both sides', async () => {
  expect(await runHere(['policy', 'diff', '--to', 'strict'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--from'),
  });
});

async function observed(argv: readonly string[], directory: string) {
  const printed = JSON.parse((await runHere(['policy', 'observed', ...argv, '--json'], { directory })).stdout);
  expect(findIssues(await readSchema('policy-observed'), printed)).toEqual([]);
  return printed;
}

test('policy observed: would-be denials and questions, by policy', async () => {
  await using folder = await createFolder();
  const policies = [
    observe(denyTools(['pay'], { reason: 'No\u202e money.' })),
    observe(requireApproval({ tools: ['send', 'pay'] })),
    callBudget({ maxCalls: 9 }),
  ];
  await record(folder.path, 'first', [...steps, ['send']], policies);
  await record(folder.path, 'second', [['pay', { euros: 1 }]], policies);
  const { exitCode, stdout, stderr } = await runHere(['policy', 'observed'], { directory: folder.path });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/\nhost\/deny-tools +first +c1 +pay +deny +No\\u\{202e\} money\.\n/);
  expect(stdout).toMatch(/\nhost\/require-approval +second +c0 +pay +ask +`pay` needs approval\.\n/);
  expect(stdout).toMatch(/\nhost\/deny-tools +4 +0\nhost\/require-approval +0 +5\n/);
  expect(stdout).not.toContain('call-budget');

  expect(await observed([], folder.path)).toMatchObject({ sessions: [{ id: 'first' }, { id: 'second' }] });
  expect(await observed(['second'], folder.path)).toMatchObject({
    sessions: [
      {
        id: 'second',
        policies: [
          { policy: 'host/deny-tools', asked: 0, denied: 1 },
          { policy: 'host/require-approval', asked: 1, denied: 0 },
        ],
      },
    ],
  });
});

test('policy observed: nothing observed; a damaged log; an unknown session', async () => {
  await using folder = await createFolder();
  const path = await record(folder.path, 'first', steps);
  expect(await runHere(['policy', 'observed'], { directory: folder.path })).toMatchObject({
    exitCode: 0,
    stdout: 'Nothing in 1 session: no policy was observed, or none objected.\n',
  });
  await appendFile(path, '{"half');
  expect(await runHere(['policy', 'observed'], { directory: folder.path })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('torn'),
  });
  expect(await runHere(['policy', 'observed', 'gone'], { directory: folder.path })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(usage.invalid: session_unknown)'),
  });
});
