import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { listTools } from './list.ts';

const remove = `export const METADATA = {
  name: 'remove_all', function: 'removeAll', description: 'Removes \\u4e00 ${'very '.repeat(30)}much.', dangerous: true,
  parameters: { type: 'object', properties: { pattern: { type: 'string' } }, required: ['pattern'] },
};
export function removeAll() { return null; }
`;

async function list(
  files: Readonly<Record<string, string>>,
  { tools, json = false }: { tools?: string; json?: boolean } = {},
) {
  await using folder = await createFolder(files);
  const { host, stdout, stderr } = createTestHost({
    directory: folder.path,
    terminals: ['stdout'],
    environment: { NO_COLOR: '1' },
  });
  const exitCode = await listTools({ tools, tree: false, json }, host);
  return { exitCode, text: stdout(), warnings: stderr() };
}

test('a table with origin, effects and gate fits the terminal', async () => {
  const silent = remove.replace("'remove_all'", "'silent'").replace('dangerous: true,', '');
  const { exitCode, text } = await list({ 'plugins/remove.mjs': remove, 'plugins/silent.mjs': silent });
  expect(exitCode).toBe(0);
  expect(text).toMatch(/^silent +folder +plugins\/silent\.mjs +external +undeclared +Removes/m);
  expect(text).toMatch(/^tool +owner +origin +effects +gate +description\n/);
  expect(text).toMatch(/^remove_all +folder +plugins\/remove\.mjs +external +dangerous +Removes/m);
  expect(text).toMatch(/^read_file +files +built in +none +/m);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('without a default folder the file tools are listed, with a note', async () => {
  const { exitCode, text } = await list({});
  expect(exitCode).toBe(0);
  expect(text).toContain('read_file');
  expect(text).toContain('Tools folder `./plugins` does not exist');
});

test('an invalid file is reported on stderr', async () => {
  const { exitCode, text, warnings } = await list({
    'plugins/bad.mjs': 'export const x = 1;',
    'plugins/remove.mjs': remove,
  });
  expect(exitCode).toBe(0);
  expect(warnings).toContain('bad.mjs:');
  expect(text).toContain('remove_all');
});

test('JSON has a row per tool', async () => {
  const { text } = await list({ 'own/remove.mjs': remove }, { tools: 'own', json: true });
  const rows = JSON.parse(text);
  expect(rows[0]).toMatchObject({
    name: 'remove_all',
    origin: 'own/remove.mjs',
    effects: 'external',
    repeat: 'never',
    dangerous: true,
  });
  expect(rows.length).toBeGreaterThan(3);
});
