import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Ended, type Project, toSettings } from './stranger.ts';

// A newcomer's path outside the workspace: a package is written, tested, checked and published, and used by another project.

let author: Project;
let user: Project | undefined;

beforeAll(async () => {
  author = await createProject(inject('registry'), ['holdfast']);
});

afterAll(async () => {
  await author.remove();
  await user?.remove();
});

function holdfast(project: Project, ...words: readonly string[]): Promise<Ended> {
  return project.run(join(project.folder, 'node_modules/.bin/holdfast'), words);
}

const succeeded = { status: 0 };

test.each([
  { kind: 'pack', packageName: '@stranger/mail-care', folder: 'mail-care' },
  { kind: 'plugin', packageName: '@stranger/text-tools', folder: 'text-tools' },
])('a new $kind passes its own checks and is published as it is', async ({ kind, packageName, folder }) => {
  const npm = (...words: readonly string[]): Promise<Ended> => author.run('npm', words, folder);
  expect(await holdfast(author, 'new', kind, packageName)).toMatchObject(succeeded);
  await author.write(`${folder}/.npmrc`, toSettings(inject('registry')));
  expect(await npm('install', '--no-audit', '--no-fund', '--ignore-scripts')).toMatchObject(succeeded);
  expect(await npm('test')).toEqual({ status: 0, output: expect.stringMatching(/pass [1-9]\d*[\s\S]*fail 0/) });
  if (kind === 'pack') expect(await npm('run', 'check')).toMatchObject(succeeded);
  expect(await npm('publish')).toMatchObject(succeeded);
  // A version that is there is there for good.
  expect(await npm('publish')).not.toMatchObject(succeeded);
});

const config = `import { defineConfig } from '@holdfast/registry';

export default defineConfig({
  plugins: ['@stranger/text-tools'],
  packs: [{ pack: '@stranger/mail-care', preset: 'PRESET' }],
});
`;
const sendMail = `export const METADATA = {
  name: 'send_mail', function: 'send', description: 'Send a mail.', dangerous: false, effects: 'state',
  parameters: { type: 'object', properties: { text: { type: 'string', description: 'The text' } }, required: ['text'] },
};
export function send({ text }) {
  return { characters: text.length };
}
`;
const mail = (text: string): object => ({ name: 'send_mail', arguments: { text } });
const script = {
  turns: [
    { calls: [{ name: 'count_words', arguments: { text: 'Good morning' } }] },
    { calls: [mail('Good morning.')] },
    { calls: [mail('And good night.')] },
    { text: 'Done.' },
  ],
};

test('another project installs them, selects a preset by config, and sees a decision and that of a stricter preset', async () => {
  user = await createProject(inject('registry'), [
    'holdfast',
    '@holdfast/registry',
    '@stranger/mail-care',
    '@stranger/text-tools',
  ]);
  await user.write('plugins/send_mail.mjs', sendMail);
  await user.write('script.json', JSON.stringify(script));
  await user.write('holdfast.config.ts', config.replace('PRESET', 'recommended'));
  const run = ['run', 'Greet them.', '--model', 'script:script.json'];
  expect(await holdfast(user, 'trust')).toMatchObject({ status: 0 });
  const first = await holdfast(user, ...run);
  expect(first).toEqual({ status: 0, output: expect.stringContaining('count_words') });
  expect(first.output).not.toContain('denied');
  // Two mails went out under `recommended`; `strict` would have let one.
  const words = ['--pack', '@stranger/mail-care', '--from', 'recommended', '--to', 'strict'];
  const stricter = await holdfast(user, 'policy', 'diff', ...words);
  expect(stricter.output).toMatch(/send_mail[\s\S]*may run once per/);
  // The other way round something gets through that did not.
  expect(
    await holdfast(user, 'policy', 'diff', '--pack', '@stranger/mail-care', '--from', 'strict', '--to', 'recommended'),
  ).toMatchObject({
    status: 1,
    output: expect.stringContaining('widened'),
  });

  await user.write('holdfast.config.ts', config.replace('PRESET', 'strict'));
  expect(await holdfast(user, ...run, '--trust')).toEqual({
    status: 0,
    output: expect.stringContaining('may run once per session'),
  });
  expect(await holdfast(user, 'explain', 'count_words')).toEqual({
    status: 0,
    output: expect.stringMatching(/from +text-tools 0\.1\.0\n +package +@stranger\/text-tools\n/),
  });
});
