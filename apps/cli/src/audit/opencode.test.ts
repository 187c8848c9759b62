import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { opencodeFormat } from './opencode.ts';
import { writeParts } from './test-transcripts.ts';
import { findTranscripts, readTranscript, type TranscriptLine } from './transcript.ts';

async function readAll(home: string, sinceMs = 0): Promise<readonly (TranscriptLine | undefined)[]> {
  const lines: (TranscriptLine | undefined)[] = [];
  for (const found of await findTranscripts(opencodeFormat, home, sinceMs))
    for await (const line of readTranscript(found)) lines.push(line);
  return lines;
}

const part = (more: object): string => JSON.stringify({ type: 'tool', tool: 'bash', callID: 'c', ...more });
const input = { command: 'ls' };

test('a call of a sub-agent belongs to the session that it works for in the end', async () => {
  await using home = await createFolder();
  const sessions = [
    { id: 'top', directory: '/w' },
    { id: 'sub', directory: '/w/x', parent: 'top' },
    { id: 'below', directory: '/w', parent: 'sub' },
    // Never ends.
    { id: 'odd', directory: '/w', parent: 'odd' },
  ];
  const text = part({ state: { status: 'running', input } });
  writeParts(home.path, sessions, { top: [text], sub: [text], below: [text], odd: [text] });
  const steps = (await readAll(home.path)).map((line) => line?.steps);
  expect(steps).toHaveLength(4);
  expect(steps).toEqual(
    expect.arrayContaining([
      [
        { type: 'place', sessionId: 'top', cwd: '/w' },
        { type: 'call', id: 'c', name: 'bash', input },
      ],
      [{ type: 'place', sessionId: 'top', cwd: '/w/x' }, expect.objectContaining({ subAgentId: 'sub' })],
      [{ type: 'place', sessionId: 'top', cwd: '/w' }, expect.objectContaining({ subAgentId: 'below' })],
    ]),
  );
});

test.each<[string, string, unknown]>([
  ['that ended', part({ state: { status: 'completed', input, metadata: { exit: 0 } } }), { ok: true }],
  ['that failed', part({ state: { status: 'completed', input, metadata: { exit: 1 } } }), { ok: false }],
  ['that was killed', part({ state: { status: 'completed', input, metadata: { exit: null } } }), { ok: 'unknown' }],
  ['of another tool', part({ tool: 'read', state: { status: 'completed', input } }), { ok: true }],
  ['that threw', part({ state: { status: 'error', input, error: 'no' } }), { ok: false }],
  ['that goes on', part({ state: { status: 'running', input } }), undefined],
])('a call %s', async (_, text, result) => {
  await using home = await createFolder();
  writeParts(home.path, [{ id: 's', directory: '/w' }], { s: [text] });
  const steps = (await readAll(home.path)).flatMap((line) => line?.steps ?? []);
  expect(steps.find(({ type }) => type === 'result')).toEqual(
    result === undefined ? undefined : expect.objectContaining(result),
  );
});

test('parts that are not JSON are counted; other parts and sessions from before are left out', async () => {
  await using home = await createFolder();
  const texts = ['{"type":', '[]', '{"type":"text","text":"So."}', part({ callID: 7 }), part({ state: null })];
  writeParts(home.path, [{ id: 's', directory: '/w' }], { s: texts });
  expect((await readAll(home.path)).map((line) => line?.steps.length)).toEqual([undefined, undefined, 2]);
  expect(await readAll(home.path, Date.UTC(2026, 5, 1))).toEqual([]);
});

test.each(['', 'no database', 'SQLite format 3\0 and then nothing'])(
  'a file that is not a database is counted: %j',
  async (text) => {
    await using home = await createFolder({ '.local/share/opencode/opencode.db': text });
    expect(await readAll(home.path)).toEqual([undefined]);
  },
);

test('a database without these tables is counted, and one of another name is none', async () => {
  await using home = await createFolder({ '.local/share/opencode/notes.db': '' });
  expect(await readAll(home.path)).toEqual([]);
  new DatabaseSync(join(home.path, '.local/share/opencode/opencode-dev.db')).exec('CREATE TABLE part (id TEXT)');
  expect(await readAll(home.path)).toEqual([undefined]);
});
