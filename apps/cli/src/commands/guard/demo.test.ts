import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasCode } from '../../terminal/system.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { type RunMainOptions, runMain } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

/** The text of the recording, which `npm run docs -- record` draws anew. */
function drawnText(svg: string): string {
  const [, drawn = ''] = svg.split('</style>');
  const text = drawn.replaceAll('</text>', ' ').replaceAll(/<[^>]*>/g, '');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

const toWords = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

/** Processes that have a text in their environment, where the system shows them as files. */
async function listProcesses(text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    try {
      const [environment, command] = await Promise.all(
        ['environ', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
      );
      if (environment?.includes(text) === true) found.push(command ?? '');
    } catch (thrown) {
      // Of another user, or ended by now.
      if (!['EACCES', 'EPERM', 'ENOENT', 'ESRCH'].some((code) => hasCode(thrown, code))) throw thrown;
    }
  }
  return found;
}

async function runDemo(
  flags: readonly string[] = [],
  more: Record<string, string> = {},
  options: Pick<RunMainOptions, 'onStdout'> = {},
) {
  await using folder = await createFolder({ 'home/.claude/settings.json': '{}\n', 'work/a.txt': '' });
  const temporary = join(folder.path, 'tmp');
  await mkdir(temporary);
  const list = () => readdir(folder.path, { recursive: true });
  const before = await list();
  const environment = {
    HOME: join(folder.path, 'home'),
    HOLDFAST_HOME: join(folder.path, 'home', 'holdfast'),
    TMPDIR: temporary,
    CLAUDECODE: '1',
    npm_config_cache: join(folder.path, 'cache'),
    ...more,
  };
  const ended = await runMain(['demo', ...flags], {
    folder: join(folder.path, 'work'),
    environment,
    trusted: false,
    ...options,
  });
  const left = (await list()).filter((path) => !before.includes(path));
  return { ...ended, left, running: await listProcesses(temporary) };
}

test('a guarded agent is shown from its first call to another policy, and nothing is left', async () => {
  const { exitCode, stdout, stderr, left, running } = await runDemo();
  expect({ exitCode, stderr, left, running }).toEqual({ exitCode: 0, stderr: '', left: [], running: [] });
  const calls = stdout
    .split('\nWhy was')[0]
    ?.match(/\$ .+\n +\w+/g)
    ?.map((text) => text.replace(/\n +/, ': '));
  expect(calls).toEqual([
    '$ ls: allowed',
    '$ cat .env: denied',
    '$ git push origin main: denied',
    '$ npm test: allowed',
    '$ git push origin main: allowed',
    '$ node -e "console.log(6 * 7)": asked',
  ]);
  expect(stdout).toContain('In your place the demo says yes: ran, exit code 0');
  expect(stdout).toMatch(/Call call-2 {2}bash {2}denied[\s\S]+deny by host\/filesystem-guard-secret-files/);
  expect(stdout).toMatch(/tightened[\s\S]+call-4[\s\S]+6 calls of 1 session/);
  expect(stdout).not.toContain('this-must-not-reach-a-model');
  // No terminal: no colors.
  expect(stdout).not.toContain('\u001B[');
  const recording = new URL('../../../../docs/guide/recordings/demo.svg', import.meta.url);
  expect(toWords(drawnText(await readFile(recording, 'utf8')))).toBe(toWords(stdout.split('\nWhy was')[0] ?? ''));
}, 60_000);

test('--json prints one object, which matches its schema', async () => {
  const { exitCode, stdout, left } = await runDemo(['--json']);
  expect({ exitCode, left }).toEqual({ exitCode: 0, left: [] });
  const printed = JSON.parse(stdout);
  expect(findIssues(await readSchema('demo'), printed)).toEqual([]);
  expect(printed.why).toMatchObject({ callId: 'call-2' });
  expect(printed.diff.counts).toMatchObject({ widened: 0, tightened: 4, unknown: 0 });
}, 60_000);

test('without git it says what it needs', async () => {
  const { exitCode, stdout, stderr, left } = await runDemo([], { PATH: '/nonexistent' });
  expect({ exitCode, stdout, left }).toEqual({ exitCode: 1, stdout: '', left: [] });
  expect(stderr).toMatch(/needs git and npm.+\(command\.failed: demo\)/);
});

test.each([
  ['SIGINT', 130, 'It works in'],
  ['SIGTERM', 143, 'call-1'],
  ['SIGINT', 130, 'call-3'],
] as const)(
  '%s: exit code %i after "%s", and neither a file nor a process is left',
  async (signal, code, after) => {
    const ended = await runDemo(
      [],
      {},
      {
        onStdout(child, seen) {
          if (!seen.includes(after) || child.killed) return;
          child.kill(signal);
          // As npm passes it on.
          setTimeout(() => child.kill(signal), 20);
        },
      },
    );
    expect(ended).toMatchObject({ exitCode: code, stderr: '', left: [], running: [] });
    expect(ended.stdout).not.toContain('the temporary folder is removed');
  },
  60_000,
);
