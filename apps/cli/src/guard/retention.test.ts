import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { forgetOldSessions, forgetSession } from './retention.ts';

const dayMs = 86_400_000;

test('a session in whose files nothing was written for 30 days is removed whole', async () => {
  const sessions = 'own/guard/.holdfast/sessions';
  const names = ['codex-a.jsonl', 'codex-a.jsonl.1', 'codex-b.jsonl', 'codex-b.jsonl.1', 'codex-c.jsonl', 'notes.txt'];
  await using folder = await createFolder(Object.fromEntries(names.map((name) => [`${sessions}/${name}`, '{}'])));
  const host = { environment: { HOLDFAST_HOME: join(folder.path, 'own') }, directory: folder.path };
  const nowMs = Date.now();
  const age = (name: string, days: number) =>
    utimes(join(folder.path, sessions, name), new Date(), new Date(nowMs - days * dayMs));
  for (const name of ['codex-a.jsonl', 'codex-a.jsonl.1', 'codex-b.jsonl.1', 'notes.txt']) await age(name, 31);
  await age('codex-c.jsonl', 29);
  await forgetOldSessions(host, nowMs);
  const left = async () => (await readdir(join(folder.path, sessions))).toSorted();
  expect(await left()).toEqual(['codex-b.jsonl', 'codex-b.jsonl.1', 'codex-c.jsonl', 'notes.txt']);
  await forgetSession('codex-b', host);
  expect(await left()).toEqual(['codex-c.jsonl', 'notes.txt']);
});
