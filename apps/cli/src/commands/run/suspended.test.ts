import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { type Ended, runHere, runMain, toTool } from '../../testing/test-program.ts';

// Starting Node.js may take seconds on a busy machine, and these tests start it a dozen times.
vi.setConfig({ testTimeout: 180_000 });

const write = `export const METADATA = {
  name: 'publish', function: 'publish', description: 'Writes a page.', dangerous: true, effects: 'state',
  parameters: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
};
export async function publish({ page }, { filesystem }) {
  await filesystem.write(page + '.html', 'published');
  return page;
}
`;
const publish = (page: string) => ({ name: 'publish', arguments: { page } });

/** One process per command: all state comes from the log. */
function inFolder({ path }: TestFolder) {
  return (...argv: readonly string[]): Promise<Ended> => runMain(argv, { folder: path });
}

/** The same in this process: only the folder carries state between commands. */
function inProcess({ path }: TestFolder) {
  return (...argv: readonly string[]): Promise<Ended> => runHere(argv, { directory: path });
}

async function listPages({ path }: TestFolder): Promise<readonly string[]> {
  return (await readdir(path)).filter((name) => name.endsWith('.html')).sort();
}

test('a suspended run is answered by other processes in parts and completes', async () => {
  await using folder = await createFolder({
    'plugins/publish.mjs': write,
    'script.json': JSON.stringify({
      turns: [
        { text: 'All of them.', calls: ['one', 'two', 'three', 'four'].map(publish) },
        { calls: [publish('last')] },
        { text: 'Published.' },
      ],
    }),
  });
  const [holdfast, look] = [inFolder(folder), inProcess(folder)];
  const started = await holdfast('run', 'Publish.', '--model', 'script:script.json', '--suspend');
  expect(started).toMatchObject({ exitCode: 3, stderr: '' });
  expect(started.stdout).toMatch(/suspended \(waiting for an answer\)/);
  const [, id = ''] = /holdfast -- pending (\S+)/.exec(started.stdout) ?? [];

  const pending = await look('pending', id);
  expect(pending.exitCode).toBe(0);
  expect(pending.stdout).toContain('"page": "one"');
  const [session] = JSON.parse((await look('pending', '--json')).stdout);
  expect(session).toMatchObject({ session: id, runs: [{ state: 'suspended', request: 'Publish.' }] });
  expect(session.calls.map(({ callId, state }: Record<string, unknown>) => [callId, state])).toEqual(
    [0, 1, 2, 3].map((index) => [`call_1_${index}`, 'waiting']),
  );

  // Not in call order: a call answered before an earlier question runs only after that question.
  expect((await holdfast('approve', id, 'call_1_0', '--by', 'anna')).stdout).toContain('Approved: publish (call_1_0)');
  expect((await look('approve', id, 'call_1_3')).stdout).toContain('2 more calls are pending');
  expect((await look('deny', id, 'call_1_1', '--reason', 'Two is not ready.')).exitCode).toBe(0);
  const partly = await look('resume', id);
  expect(partly.exitCode).toBe(3);
  expect(partly.stdout).toMatch(/ok {8}publish .+asked: approved by anna/);
  expect(partly.stdout).toContain('Two is not ready.');
  expect(await listPages(folder)).toEqual(['one.html']);
  // No new answers, so nothing runs again.
  expect((await look('resume', id)).exitCode).toBe(3);

  const granted = await look('approve', id, 'call_1_2', '--grant', '--json');
  expect(JSON.parse(granted.stdout)).toMatchObject({ session: id, waiting: 0, answered: [{ callId: 'call_1_2' }] });
  const ended = await holdfast('resume', id);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ended.stdout).toContain('Published.');
  expect(await listPages(folder)).toEqual(['four.html', 'last.html', 'one.html', 'three.html']);

  expect(await look('resume', id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('work.not_open') });
  expect((await look('pending')).stdout).toContain('Nothing is pending in ');
  expect((await look('grants', id)).stdout).toContain('publish');
  const shown = await look('show', id);
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('hash chain intact') });
  expect(shown.stdout).toContain('Status  completed');
});

const charge = `import { appendFile } from 'node:fs/promises';
export const METADATA = {
  name: 'charge', function: 'charge', description: 'Charges a card.', dangerous: false, effects: 'external',
  parameters: { type: 'object', properties: {} },
};
export async function charge(_, context) {
  await appendFile('charged.txt', 'charged\\n');
  context.progress('charging');
  return new Promise(() => setInterval(() => {}, 1000));
}
`;

test('two processes resume at once: approved calls run once', async () => {
  await using folder = await createFolder({
    'plugins/charge.mjs': charge
      .replace('dangerous: false', 'dangerous: true')
      .replace('return new Promise(() => setInterval(() => {}, 1000));', 'return 1;'),
    'script.json': JSON.stringify({ turns: [{ calls: [{ name: 'charge', arguments: {} }] }, { text: 'Done.' }] }),
  });
  const [holdfast, look] = [inFolder(folder), inProcess(folder)];
  expect((await look('run', 'Pay.', '--model', 'script:script.json', '--suspend')).exitCode).toBe(3);
  const [{ session }] = JSON.parse((await look('pending', '--json')).stdout);
  await look('approve', session, 'call_1_0');
  // The tool writes to the working directory of its process.
  const ended = await Promise.all([holdfast('resume', session), holdfast('resume', session)]);
  expect(ended.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
  expect(ended.map(({ stderr }) => stderr).join('')).toMatch(/\((?:log\.locked|work\.not_open: run)\)/);
  expect(await readFile(join(folder.path, 'charged.txt'), 'utf8')).toBe('charged\n');
});

test.each([
  { resolution: ['--done', '--value', '{"receipt":7}', '--by', 'anna'], kind: 'ok', says: /"receipt": ?7/ },
  {
    resolution: ['--not-done', '--reason', 'The bank knows nothing.'],
    kind: 'cancelled',
    says: /The bank knows nothing/,
  },
  { resolution: undefined, kind: 'in-doubt', says: /whether `charge` took effect/ },
])('a run killed during a call: $resolution makes it $kind, and the run completes', async (trial) => {
  await using folder = await createFolder({
    'plugins/quick.mjs': toTool('quick', "await context.filesystem.write('done.txt', 'done'); return 'done';", 'state'),
    'plugins/charge.mjs': charge,
    'script.json': JSON.stringify({
      turns: [{ calls: ['quick', 'charge', 'quick'].map((name) => ({ name, arguments: {} })) }, { text: 'Settled.' }],
    }),
  });
  const [holdfast, look] = [inFolder(folder), inProcess(folder)];
  const killed = await runMain(['run', 'Pay.', '--model', 'script:script.json', '--json'], {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('charging')) child.kill('SIGKILL');
    },
  });
  expect(killed.exitCode).toBe(null);
  const [session] = JSON.parse((await look('pending', '--json')).stdout);
  expect(session).toMatchObject({
    runs: [{ state: 'interrupted' }],
    calls: [{ callId: 'call_1_1', name: 'charge', state: 'in-doubt', repeat: 'never' }],
  });
  const pending = await look('pending');
  expect(pending.stdout).toContain('its effect is unknown');
  expect(pending.stdout).toContain(`resolve ${session.session} call_1_1 --done`);

  if (trial.resolution !== undefined) {
    const resolved = await look('resolve', session.session, 'call_1_1', ...trial.resolution);
    expect(resolved).toMatchObject({ exitCode: 0, stderr: '' });
  }
  const ended = await holdfast('resume', session.session);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ended.stdout).toContain('Settled.');
  expect(await readFile(join(folder.path, 'charged.txt'), 'utf8')).toBe('charged\n');
  const why = await look('why', session.session, 'call_1_1');
  expect(why.stdout).toContain(`charge  ${trial.kind}`);
  expect(why.stdout).toMatch(trial.says);
});
