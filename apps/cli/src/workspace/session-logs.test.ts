import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createSessionId, findLog, prepareLogPath } from './session-logs.ts';

test('ids sort by time', () => {
  const early = createSessionId({ clock: manualClock(Date.UTC(2026, 4, 17, 9, 30, 12, 345)), suffix: 'zz' });
  const late = createSessionId({ clock: manualClock(Date.UTC(2026, 4, 17, 9, 30, 12, 346)), suffix: 'aa' });
  expect(early).toBe('20260517-093012345-zz');
  expect([late, early].sort()).toEqual([early, late]);
});

test('the log is in the workspace and ignored by git; an existing ignore file stays', async () => {
  await using folder = await createFolder();
  const workspace = folder.path;
  expect(await prepareLogPath(workspace, 'one')).toBe(join(workspace, '.holdfast', 'sessions', 'one.jsonl'));
  const ignoreFile = join(workspace, '.holdfast', '.gitignore');
  expect(await readFile(ignoreFile, 'utf8')).toBe('*\n!overrides/\n!overrides/**\n');
  await writeFile(ignoreFile, 'sessions\n');
  await prepareLogPath(workspace, 'two');
  expect(await readFile(ignoreFile, 'utf8')).toBe('sessions\n');
});

test.each(['.holdfast', '.holdfast/sessions'])('a file in place of the folder %s is an error', async (path) => {
  await using folder = await createFolder({ [path]: '' });
  await expect(prepareLogPath(folder.path, 'one')).rejects.toMatchObject({ code: 'log.write_failed', reason: 'open' });
});

test('a log is found by id, or the newest one', async () => {
  await using folder = await createFolder();
  const workspace = folder.path;
  for (const id of ['20260102-000000-a', '20260101-000000-b']) await writeFile(await prepareLogPath(workspace, id), '');
  await writeFile(join(workspace, '.holdfast', 'sessions', 'notes.txt'), '');
  expect(await findLog(workspace, undefined)).toMatchObject({ id: '20260102-000000-a' });
  expect(await findLog(workspace, '20260101-000000-b')).toMatchObject({ id: '20260101-000000-b' });
});

test.each(['20260103-000000-c', '../../secret', '__proto__', ''])('`%s` is not a session', async (id) => {
  await using folder = await createFolder();
  const workspace = folder.path;
  await expect(findLog(workspace, id)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'session_unknown' });
  await writeFile(await prepareLogPath(workspace, '20260101-000000-a'), '');
  await expect(findLog(workspace, id)).rejects.toThrow('20260101-000000-a');
});
