import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { callEnd } from '../../testing/test-events.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { prepareLogPath } from '../../workspace/session-logs.ts';
import { replaySession } from './replay.ts';
import { verifyLog } from './verify.ts';

interface Asked {
  readonly id?: string;
  readonly at?: number;
  readonly json?: boolean;
}

async function replay(workspace: string, { id, at, json = false }: Asked = {}) {
  const { host, stdout, stderr } = createTestHost({ directory: workspace });
  const exitCode = await replaySession({ id, at, workspace: '.', json }, host);
  return { exitCode, text: stdout(), lines: stdout().trimEnd().split('\n').slice(3), warnings: stderr() };
}

const grants = {
  id: 'holdfast/grants',
  kind: 'keyed',
  retention: 'state',
  events: [],
};
const seen = { id: 'policy:files/seen', kind: 'keyed', retention: 'state', events: [] };
const notes = { id: 'notes', kind: 'list', retention: 'log', events: ['noted', 'wiped'] };
const count = { id: 'count', kind: 'value', retention: 'state', initial: 0, events: [] };
const grant = (name: string) => ({
  type: 'event',
  events: [],
  changes: [{ slice: grants.id, op: 'upsert', key: name, item: 'd1' }],
});
const upsert = (key: string) =>
  callEnd('ok', { changes: [{ slice: seen.id, op: 'upsert', key, item: { version: key } }] });

test('the final state, one line per slice, with limited content', async () => {
  await using folder = await createFolder();
  const reads = Array.from({ length: 7 }, (_, index) => upsert(`${index}.txt`));
  await writeLog(folder.path, 'one', [grant('wipe'), ...reads], [grants, seen, count]);
  const { exitCode, text, lines } = await replay(folder.path);
  expect(exitCode).toBe(0);
  expect(text).toContain('State rebuilt from 9 records; no tool, policy or model ran\n');
  expect(lines.slice(0, 6)).toEqual([
    '  slice              kind   kept   size',
    '  count              value  state  1 value',
    '      0',
    '  holdfast/grants    keyed  state  1 item',
    '      wipe: "d1"',
    '  policy:files/seen  keyed  state  7 items',
  ]);
  expect(lines.slice(6, 11)).toEqual([0, 1, 2, 3, 4].map((key) => `      ${key}.txt: {"version":"${key}.txt"}`));
  expect(lines[11]).toBe('      … 2 more items; use `--json`');
  expect(lines.at(-2)).toBe('Log intact: 9 records, hash chain valid');
  expect(lines.at(-1)).toMatch(/^Digest of the log, for `verify --head`: [0-9a-f]{64}$/);
});

test('the printed digest is the head for `verify`; digests in the state are labeled', async () => {
  await using folder = await createFolder();
  const digest = 'a1'.repeat(32);
  const noted = callEnd('ok', { changes: [{ slice: seen.id, op: 'upsert', key: 'a.txt', item: digest }] });
  await writeLog(folder.path, 'one', [noted], [seen]);
  const { text } = await replay(folder.path);
  expect(text).toContain('      a.txt: digest a1a1a1a1a1a1…\n');
  const [, head = ''] = /`verify --head`: ([0-9a-f]{64})\n$/.exec(text) ?? [];
  const { host } = createTestHost({ directory: folder.path });
  expect(await verifyLog({ id: undefined, workspace: '.', head, json: false }, host)).toBe(0);
});

test('the state after one record, as JSON that a session can import', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [grant('a'), grant('b')], [grants]);
  const states = await Promise.all(
    [0, 1, 2].map(async (at) =>
      JSON.parse((await replay(folder.path, { at, json: true })).text).slices[0].state.sort(),
    ),
  );
  expect(states).toEqual([
    [],
    [['a', 'd1']],
    [
      ['a', 'd1'],
      ['b', 'd1'],
    ],
  ]);
  expect((await replay(folder.path, { at: 1 })).text).toContain('State rebuilt from 2 records, up to record 1;');
  await expect(replay(folder.path, { at: 3 })).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'record_unknown',
    message: expect.stringContaining('the last one is 2'),
  });
});

test('a slice with unknown code is named, and the others are rebuilt', async () => {
  await using folder = await createFolder();
  await writeLog(
    folder.path,
    'one',
    [
      { type: 'slice', ...notes },
      { type: 'event', events: [{ type: 'noted', payload: 1 }] },
      { type: 'slice', ...notes, events: ['more'] },
      { type: 'event', events: [{ type: 'more', payload: 1 }] },
      upsert('a.txt'),
    ],
    [seen],
  );
  const { exitCode, lines } = await replay(folder.path);
  expect(exitCode).toBe(1);
  expect(lines.slice(0, 6)).toEqual([
    '  slice              kind   kept   size',
    '  policy:files/seen  keyed  state  1 item',
    '      a.txt: {"version":"a.txt"}',
    '  notes              list   log    not rebuilt',
    '',
    expect.stringMatching(
      /^Cannot rebuild slice `notes`: .+ \(noted, wiped, more\) .+\(replay\.failed: slice_missing\)$/,
    ),
  ]);
  const json = await replay(folder.path, { json: true });
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.text)).toMatchObject({
    slices: [{ id: 'policy:files/seen' }],
    missing: [{ id: 'notes', events: ['noted', 'wiped', 'more'] }],
  });
  expect(json.warnings).toContain('replay.failed');
});

test('a torn or modified log: the valid part is replayed, with a warning', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [grant('a'), grant('b')], [grants]);
  await appendFile(path, '{"seq":3,"pre');
  const torn = await replay(folder.path);
  expect(torn.exitCode).toBe(1);
  expect(torn.text).toContain('holdfast/grants  keyed  state  2 items');
  expect(torn.text).toMatch(/The log is torn: .+ The 3 complete records are replayed\./);
  await writeFile(path, (await readFile(path, 'utf8')).replace('"a"', '"c"'));
  const broken = await replay(folder.path, { json: true });
  expect(broken.exitCode).toBe(1);
  expect(JSON.parse(broken.text)).toMatchObject({ seq: 2, slices: [{ state: [['c', 'd1']] }] });
  expect(broken.warnings).toContain('broken at record 2');
});

test('a record that cannot be replayed: its number, and a hint for the state before it', async () => {
  await using folder = await createFolder();
  await writeLog(
    folder.path,
    'one',
    [grant('a'), { type: 'event', events: [{ type: 'unheard', payload: 1 }] }],
    [grants],
  );
  await expect(replay(folder.path)).rejects.toMatchObject({
    code: 'replay.failed',
    reason: 'record',
    message: expect.stringContaining('Record 2 '),
    data: { seq: 2, hint: '`--at 1` shows the state before this record.' },
  });
  expect((await replay(folder.path, { at: 1 })).exitCode).toBe(0);
});

test('logs of an earlier version and empty logs are errors with a reason', async () => {
  await using folder = await createFolder();
  await writeFile(await prepareLogPath(folder.path, 'one'), '');
  await expect(replay(folder.path)).rejects.toMatchObject({ code: 'log.unreadable', reason: 'empty' });
  await writeLog(folder.path, 'two', [], 'none' as never);
  await expect(replay(folder.path)).rejects.toMatchObject({
    code: 'replay.failed',
    reason: 'record',
    message: expect.stringContaining('an earlier version'),
  });
});

test('a session without state', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [callEnd('ok')]);
  expect((await replay(folder.path)).text).toContain('The session has no slices.');
});
