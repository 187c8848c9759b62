import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Ended, type Project, readCatalogVersion } from './stranger.ts';

// Outside of the workspace, with nothing but what plan-program.ts names: a request is compiled, run, and read back. And the
// program does the same from the command line, over the end of a process.

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), [
    '@holdfast/adapter-offline',
    '@holdfast/core',
    '@holdfast/orchestrator',
    '@holdfast/session',
    `@types/node@${await readCatalogVersion('@types/node')}`,
  ]);
  await project.write('program.ts', await readFile(new URL('plan-program.ts', import.meta.url), 'utf8'));
});

afterAll(() => project.remove());

test('a request becomes a plan that runs, waits for a person, and is read from its log', async () => {
  const { status, output } = await project.run(process.execPath, ['program.ts']);
  expect({ status, output: status === 0 ? (JSON.parse(output) as unknown) : output }).toEqual({
    status: 0,
    output: {
      nodes: [
        ['read_text', { path: 'tulips.txt' }],
        ['read_text', { path: 'roses.txt' }],
        ['count_words', { text: { $from: 0, path: 'text' } }],
        ['count_words', { text: { $from: 1, path: 'text' } }],
      ],
      status: 'succeeded',
      values: [{ text: 'Tulips flower in May' }, { text: 'Roses flower all summer long' }, { words: 4 }, { words: 5 }],
      alike: true,
      events: ['plan-start', 'plan-end'],
      told: ['succeeded: 4 of 4 nodes succeeded', true],
      asked: 'suspended',
      resumed: ['ok', 'ok'],
      written: 'It says: Tulips flower in May',
      declined: 'plan.declined',
      invalid: ['plan.tool.unknown'],
    },
  });
});

test('the types of all that are those that it says', async () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  };
  await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  expect(await project.run(process.execPath, [compiler, '--project', '.'])).toEqual({ status: 0, output: '' });
});

test('what comes with them is what plans run on', () => {
  const names = ['adapter-offline', 'core', 'executor', 'orchestrator', 'prompt', 'schema', 'session'];
  const ours = project.installed.filter((name) => name.startsWith('@holdfast/'));
  expect(ours).toEqual(names.map((name) => `@holdfast/${name}`));
});

const gate = `import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export const METADATA = {
  name: 'gate',
  function: 'gate',
  description: 'Wait until a file is there.',
  dangerous: false,
  effects: 'none',
  parameters: { type: 'object', properties: { path: { type: 'string', description: 'The file' } }, required: ['path'] },
};

export async function gate({ path }) {
  while (!existsSync(path)) await wait(20);
  return 'open';
}
`;

test('the program writes a plan, checks it, and resumes one whose process was killed', async () => {
  const user = await createProject(inject('registry'), ['holdfast']);
  try {
    const program = join(user.folder, 'node_modules/.bin/holdfast');
    const holdfast = (...words: readonly string[]): Promise<Ended> => user.run(program, words);
    await user.write('a.txt', 'one two\n');
    await user.write('plugins/gate.mjs', gate);
    expect(await holdfast('trust')).toMatchObject({ status: 0 });
    const made = await holdfast('plan', 'Read a.txt and write it to copy.txt', '--output', 'made.json');
    expect(made).toMatchObject({ status: 0, output: expect.stringMatching(/read_file[\s\S]*write_file[\s\S]*digest/) });
    expect(await holdfast('plan', 'check', 'made.json')).toMatchObject({ status: 0 });
    expect(await holdfast('plan', 'run', 'made.json')).toMatchObject({ status: 0 });
    expect(await readFile(join(user.folder, 'copy.txt'), 'utf8')).toBe('one two\n');

    const open = join(user.folder, 'open');
    const nodes = [
      { id: 'read', tool: 'read_file', inputs: { path: 'a.txt' } },
      { id: 'gate', tool: 'gate', depends_on: ['read'], inputs: { path: open } },
      { id: 'write', tool: 'write_file', inputs: { path: 'b.txt', content: '{{STEPS.read.text}}{{STEPS.gate}}' } },
    ];
    await user.write('waiting.json', JSON.stringify({ nodes, final_output_node: 'write' }));
    await killAt(user, program, ['plan', 'run', 'waiting.json', '--json'], /"node-start","node":"gate"/);
    await user.write('open', '');
    expect(await holdfast('pending')).toMatchObject({ output: expect.stringContaining('was interrupted') });
    const resumed = await holdfast('resume');
    expect(resumed).toMatchObject({ status: 0, output: expect.stringContaining('3 nodes (3 ok)') });
    expect(resumed.output).not.toContain('read_file {');
    expect(await readFile(join(user.folder, 'b.txt'), 'utf8')).toBe('one two\nopen');
    expect(await holdfast('trace', '--html', 'trace.html')).toMatchObject({ status: 0 });
    expect(await readFile(join(user.folder, 'trace.html'), 'utf8')).toMatch(/<svg[\s\S]*write_file/);
  } finally {
    await user.remove();
  }
});

/** Starts a program, and kills it when it says what `line` matches. */
async function killAt({ folder }: Project, program: string, words: readonly string[], line: RegExp): Promise<void> {
  const child = spawn(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const said of createInterface(child.stdout)) if (line.test(said)) child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
}
