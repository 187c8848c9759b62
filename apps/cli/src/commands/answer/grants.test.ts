import { appendFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { writeLog } from '../../testing/test-log.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const runStart = { type: 'run-start', run: 1, model: 'offline:rules', input: 'Tidy up.', tools: ['wipe'] };
const slice = { id: 'holdfast/grants', kind: 'keyed', retention: 'state', events: [] };
const grants = ['wipe', 'sweep'].map((name) => ({
  type: 'event',
  events: [],
  changes: [{ slice: slice.id, op: 'upsert', key: name, item: name.repeat(16) }],
}));

function type({ path }: TestFolder, ...argv: readonly string[]): Promise<Ended> {
  return runHere(argv, { directory: path });
}

test('grants are listed and withdrawn', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'none', [runStart]);
  expect((await type(folder, 'grants')).stdout).toBe('No tools are granted for session none.\n');
  const path = await writeLog(folder.path, 'one', [runStart, ...grants], [slice]);
  expect((await type(folder, 'grants', 'one')).stdout).toBe(
    'Granted for session one:\n' + '  sweep  tool digest sweepsweepsw\n' + '  wipe  tool digest wipewipewipe\n',
  );
  expect((await type(folder, 'pending', 'one')).stdout).toContain('Granted for the session: sweep, wipe');

  const withdrawn = JSON.parse((await type(folder, 'grants', 'one', '--withdraw', 'wipe', '--json')).stdout);
  expect(findIssues(await readSchema('grants'), withdrawn)).toEqual([]);
  expect(withdrawn).toMatchObject({ session: 'one', grants: [{ name: 'sweep' }], withdrawn: ['wipe'] });
  expect(await type(folder, 'grants', '--withdraw', 'wipe')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      '`wipe` is not granted for session `one`. Granted tools: `sweep`. (usage.invalid: grant_unknown)',
    ),
  });
  const last = await type(folder, 'grants', '--withdraw', 'sweep');
  expect(last.stdout).toBe('Withdrawn: sweep needs approval again.\nNo tools are granted for session one.\n');
  await appendFile(path, '{"seq":');
  expect(await type(folder, 'grants')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('torn') });
});
