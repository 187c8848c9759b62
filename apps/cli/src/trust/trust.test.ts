import { access, appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { toConfig, toPack, toPlugin } from '../testing/test-plugins.ts';
import { type Ended, script, trustHere } from '../testing/test-program.ts';

/** Leaves a file beside the module when its code runs. */
const mark = "import { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('./it.ran', import.meta.url), '');\n";

const mail = `{ name: 'mail', version: '1.0.0', description: 'Mails.', holdfast: '*', commands: [
  { name: 'mail', description: 'Sends.', run: () => 0 },
] }`;

const tool = `export const METADATA = {
  name: 'send', function: 'send', description: 'Sends.', dangerous: true,
  parameters: { type: 'object', properties: {} },
};
export const send = () => 'sent';
`;

const files = {
  'holdfast.config.mjs': `${mark}${toConfig({ plugins: ['./lib/mail.mjs'] })}`,
  'lib/mail.mjs': `${mark}${toPlugin(mail)}`,
  'plugins/send.mjs': `${mark}${tool}`,
  'script.json': script('send'),
  'plan.json': JSON.stringify({ nodes: [{ id: 'one', tool: 'send' }], final_output_node: 'one' }),
};

/** The code in the folder that ran. */
async function listRan({ path }: TestFolder): Promise<string> {
  const ran = await Promise.all(
    Object.entries({ config: '.', plugin: 'lib', tool: 'plugins', pack: 'src' }).map(async ([name, folder]) => {
      const there = access(join(path, folder, 'it.ran')).then(
        () => [name],
        () => [],
      );
      return await there;
    }),
  );
  return ran.flat().join(' ') || 'nothing';
}

interface TypeOptions {
  /** At a terminal: the keys that answer the question. */
  readonly keys?: string;
}

async function type({ path }: TestFolder, argv: readonly string[], { keys }: TypeOptions = {}): Promise<Ended> {
  const terminals = keys === undefined ? [] : (['stdin', 'stdout', 'stderr'] as const);
  const here = createTestHost({ directory: path, environment: { NO_COLOR: '1' }, terminals });
  if (keys !== undefined) here.stdin.write(keys);
  return { exitCode: await runProgram(argv, here.host, '0'), stdout: here.stdout(), stderr: here.stderr() };
}

const named = ['--config', 'holdfast.config.mjs', '--tools', 'plugins'];
const namedConfig = named.slice(0, 2);
const runs = ['--yes', '--isolation', 'in-process'];

/** `asked`: ends without trust; `looks`: continues without the code. */
const table = [
  {
    argv: ['run', 'Do it.', '--model', 'script:script.json', ...runs],
    more: named,
    kind: 'asked',
    ran: 'config plugin tool',
  },
  { argv: ['plan', 'run', 'plan.json', ...runs], more: named, kind: 'asked', ran: 'config plugin tool' },
  { argv: ['plan', 'check', 'plan.json'], more: named, kind: 'asked', ran: 'config plugin' },
  { argv: ['resume', ...runs], more: [], kind: 'asked', ran: 'config plugin tool' },
  { argv: ['lock', '--check'], more: namedConfig, kind: 'asked', ran: 'config plugin', exitCode: 1 },
  { argv: ['try', 'plugins/send.mjs', '--input', '{}'], more: namedConfig, kind: 'asked', ran: 'config', exitCode: 1 },
  { argv: ['list'], more: named, kind: 'looks', ran: 'config plugin' },
  { argv: ['explain', 'read_file'], more: named, kind: 'looks', ran: 'config plugin' },
  { argv: ['plugins'], more: named, kind: 'looks', ran: 'config plugin' },
  { argv: ['config'], more: namedConfig, kind: 'looks', ran: 'config' },
  { argv: ['doctor'], more: named, kind: 'looks', ran: 'config plugin' },
  { argv: ['check', 'plugins'], more: [], kind: 'looks', ran: 'nothing' },
  { argv: ['show'], more: [], kind: 'looks', ran: 'nothing', exitCode: 2 },
  { argv: ['mail'], more: [], kind: 'looks', ran: 'config plugin', untrustedCode: 2 },
  { argv: ['nothing-like-it'], more: [], kind: 'looks', ran: 'config plugin', exitCode: 2 },
] as const;
const states = ['found', 'named', 'trusted', 'drifted', 'refused'] as const;

const cells = table.flatMap((row) => states.map((state) => ({ state, title: row.argv.slice(0, 2).join(' '), row })));

test.each(cells)('$title, $state', async ({ state, row }) => {
  await using folder = await createFolder(files);
  const { argv, more, kind } = row;
  const { exitCode = 0, untrustedCode = exitCode } = row as { exitCode?: number; untrustedCode?: number };
  const isResume = argv[0] === 'resume';
  if (isResume) {
    // Started in the same state; what ran then does not matter.
    if (state !== 'named') await trustHere(folder.path);
    const begin = ['run', 'Do it.', '--model', 'script:script.json', '--suspend', '--isolation', 'in-process'];
    expect(await type(folder, [...begin, ...(state === 'named' ? named : [])])).toMatchObject({ exitCode: 3 });
    for (const place of ['', 'lib/']) await folder.write(`${place}it.ran`, '');
  }
  if (state === 'trusted' || state === 'drifted') await trustHere(folder.path);
  else if (isResume && state !== 'named') await type(folder, ['trust', '--remove']);
  if (state === 'drifted')
    for (const file of ['holdfast.config.mjs', 'lib/mail.mjs']) await appendFile(join(folder.path, file), '// New.\n');
  const isYes = state === 'named' || state === 'trusted';
  const typed = [...argv, ...(state === 'named' ? more : [])];
  const ended = await type(folder, typed, state === 'refused' ? { keys: '\r' } : {});
  // Naming needs an option: a command without one only finds the code.
  const runsNow = isYes && !(state === 'named' && more.length === 0 && !isResume);
  const wanted = runsNow ? exitCode : kind === 'asked' ? 4 : untrustedCode;
  expect(ended).toMatchObject({ exitCode: wanted });
  // A resumed run's imports have already run in this process when it started.
  if (isResume) expect(await listRan(folder)).toBe(runsNow ? 'config plugin tool' : 'config plugin');
  else expect(await listRan(folder)).toBe(runsNow ? row.ran : 'nothing');
  const says = `${ended.stdout}${ended.stderr}`;
  if (runsNow || argv[0] === 'check' || argv[0] === 'show') expect(says).not.toContain('holdfast trust');
  else expect(says).toMatch(/holdfast\.config\.mjs[\s\S]*`holdfast trust`/);
});

/** A pack in the folder, and a prompt. `trusted`: with `--trust`, because `holdfast trust` does not cover packs. */
const modules = {
  'src/index.mjs': `${mark}${toPack('guard', '() => core.deny("Never.")')}`,
  'cases.mjs': `${mark}export const cases = { presets: { recommended: [], strict: [] } };\n`,
  'lib/prompt.mjs': `${mark}import { createPrompt } from '${import.meta.resolve('@holdfast/prompt')}';
export default createPrompt({ ns: 'acme', key: 'mail', sections: [] });\n`,
};

test.each([
  { argv: ['pack', 'check'], state: 'found', exitCode: 4, ran: 'nothing' },
  { argv: ['pack', 'check', '.'], state: 'named', exitCode: 1, ran: 'config pack' },
  // A module runs once per process.
  { argv: ['pack', 'check'], state: 'trusted', exitCode: 1, ran: 'nothing' },
  { argv: ['pack', 'check'], state: 'drifted', exitCode: 4, ran: 'nothing' },
  { argv: ['pack', 'check'], state: 'refused', exitCode: 4, ran: 'nothing' },
  { argv: ['overrides', 'seed', 'lib/prompt.mjs'], state: 'named', exitCode: 0, ran: 'plugin' },
] as const)('$argv, $state', async ({ argv, state, exitCode, ran }) => {
  await using folder = await createFolder(modules);
  if (state === 'trusted' || state === 'drifted') {
    expect(await type(folder, ['pack', 'check', '--trust'])).toMatchObject({ exitCode: 1 });
    for (const place of ['', 'src/']) await rm(join(folder.path, place, 'it.ran'), { force: true });
  }
  if (state === 'drifted') await appendFile(join(folder.path, 'src/index.mjs'), '// New.\n');
  const ended = await type(folder, argv, state === 'refused' ? { keys: '\r' } : {});
  expect(ended).toMatchObject({ exitCode });
  expect(await listRan(folder)).toBe(ran);
  if (exitCode === 4)
    expect(`${ended.stdout}${ended.stderr}`).toMatch(/src\/index\.mjs[\s\S]*`holdfast pack check \.`/);
});
