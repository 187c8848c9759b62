import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, shellFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Runs the lines that the guard lets through in real shells, among programs that do nothing and one that must not run. */

const shells = ['/bin/bash', '/bin/sh'].filter((path) => existsSync(path));
const hasShells = shells.length > 0;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-shell-'));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'work'));
  const programs = { ls: 'exit 0', cat: 'exit 0', forbidden: `echo run >> ${folder}/marker` };
  for (const [name, body] of Object.entries(programs)) {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function runsForbidden(shell: string, script: string): Promise<boolean> {
  spawnSync(shell, ['-c', script], {
    cwd: join(folder, 'work'),
    env: { PATH: join(folder, 'bin') },
    input: '',
    timeout: 5_000,
  });
  const marker = join(folder, 'marker');
  const didRun = existsSync(marker);
  await rm(marker, { force: true });
  return didRun;
}

const bash = defineTool({
  name: 'bash',
  description: 'Would run a command.',
  inputSchema: {
    '~standard': {
      version: 1,
      vendor: 'holdfast-tests',
      validate: (value: unknown) => ({ value }),
      ...{ jsonSchema: { input: () => ({ type: 'object', additionalProperties: true }) } },
    },
  },
  effects: 'external',
  execute: () => null,
});
const policies = packPolicies(shellGuard, {
  preset: 'strict',
  config: { allow: ['ls', 'cat', 'echo', ':', 'true', 'printf', 'test', '['], unknown: 'deny' },
});

async function isAllowed(command: string): Promise<boolean> {
  const session = createSession();
  const work = join(folder, 'work');
  const facts = createFacts({
    describers: [shellFacts()],
    view: { folder: work, workspace: work, disk: nodeDisk(work) },
  });
  const call = { name: 'bash', arguments: { command } };
  const outcome = await executeToolCall(call, { session, tools: [bash], policies, facts });
  return outcome.kind === 'ok';
}

const pieces = [
  ...[
    'forbidden',
    'forbidden',
    'forbidden',
    'ls',
    'cat',
    'echo',
    'true',
    'printf',
    'a',
    '-a',
    "'",
    "'",
    '"',
    '"',
    '`',
    '$(',
    ')',
  ],
  ...[
    ';',
    '|',
    '&',
    '\n',
    '<<E',
    '<<-E',
    "<<'E'",
    '\nE\n',
    'E',
    "$'",
    '$"',
    '\\',
    '{',
    '}',
    '[[',
    ']]',
    '((',
    '))',
    '$((',
    '(',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for x in',
    'do',
    'done',
    'case x in',
    'esac',
    ';;',
    'x)',
    '<(',
    '<<<',
    '&>/dev/null',
    '2>&1',
    '>/dev/null',
  ],
  ...[
    '${',
    '${x:-',
    'x=',
    '#',
    '!',
    '$x',
    '"$x"',
    '*',
    '?',
    '[',
    ']',
    '~',
    '$[',
    'function f',
    'f()',
    '\t',
    '&&',
    '||',
    '|&',
  ],
  ...[
    '!(',
    '@(',
    "\\'",
    '\\"',
    '\\\n',
    'env',
    'exec',
    'command',
    'eval',
    'sh -c',
    'trap',
    'EXIT',
    'set --',
    '=~',
    '-eq',
    '\u00a0',
  ],
];
const script = fc
  .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom('', ' ', ' ')), { minLength: 2, maxLength: 14 })
  .map((found) => found.flat().join(''))
  .filter((text) => text.includes('forbidden'));

test.skipIf(!hasShells)('the program that must not run is one that shells find', async () => {
  for (const shell of shells) expect(await runsForbidden(shell, 'ls; forbidden')).toBe(true);
  expect(await isAllowed('ls; forbidden')).toBe(false);
  expect(await isAllowed('echo forbidden')).toBe(true);
});

test.each(shells)('nothing that is let through makes %s run it', async (shell) => {
  let allowed = 0;
  await fc.assert(
    fc.asyncProperty(script, async (text) => {
      if (!(await isAllowed(text))) return;
      allowed += 1;
      expect({ text, ran: await runsForbidden(shell, text) }).toEqual({ text, ran: false });
    }),
    { numRuns: 800 },
  );
  expect(allowed).toBeGreaterThan(5);
});
