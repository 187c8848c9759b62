import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { createFolder } from './test-folder.ts';
import { createTestHost } from './test-host.ts';
import { writeLog } from './test-log.ts';

async function verify(directory: string, ...parameters: readonly string[]) {
  const { host, stdout, stderr } = createTestHost({ directory });
  const exitCode = await runProgram(['verify', ...parameters], host, '0');
  return { exitCode, lines: stdout().trimEnd().split('\n'), text: stdout(), errors: stderr() };
}

const entries = Array.from({ length: 4 }, (_, n) => ({ type: 'note', n }));

test('a log that is as it was written', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  const { exitCode, lines } = await verify(folder.path);
  expect(exitCode).toBe(0);
  expect(lines[0]).toMatch(/^Session one {2}/);
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^5 records, hash chain intact, head [0-9a-f]{64}$/)]);
});

test.each([
  {
    what: 'a line edited',
    damage: (lines: string[]) => lines.with(2, lines[2]?.replace('"n":1', '"n":9') ?? ''),
    says: 'log.chain',
  },
  { what: 'a line left out', damage: (lines: string[]) => lines.toSpliced(2, 1), says: 'log.sequence' },
  { what: 'the last line cut', damage: (lines: string[]) => [...lines.slice(0, -2), '{"seq":4'], says: 'torn' },
])('$what: exit code 1, and where', async ({ damage, says }) => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', entries);
  await writeFile(path, damage((await readFile(path, 'utf8')).split('\n')).join('\n'));
  const { exitCode, text } = await verify(folder.path);
  expect(exitCode).toBe(1);
  expect(text).toContain(says);
  const json = await verify(folder.path, '--json');
  expect([json.exitCode, JSON.parse(json.text).whole]).toEqual([1, false]);
});

test('a noted head: of the last record, of an earlier one, and of none that is there', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', entries);
  const lines = (await readFile(path, 'utf8')).split('\n');
  const earlier = JSON.parse(lines[3] ?? '').prev as string;
  const { head } = JSON.parse((await verify(folder.path, '--json')).text);
  expect((await verify(folder.path, '--head', head)).lines.at(-1)).toBe(
    'The noted head is that of record 4, and nothing has been added.',
  );
  expect((await verify(folder.path, '--head', earlier.toUpperCase())).lines.at(-1)).toBe(
    'The noted head is that of record 2, and 2 records came after it.',
  );
  // Cut at the edge of a record: the chain is whole, and only the head tells.
  await writeFile(path, `${lines.slice(0, 4).join('\n')}\n`);
  expect((await verify(folder.path)).exitCode).toBe(0);
  const cut = await verify(folder.path, '--head', head);
  expect(cut.exitCode).toBe(1);
  expect(cut.text).toContain('its end was cut off or written anew');
  expect(JSON.parse((await verify(folder.path, '--head', head, '--json')).text)).toMatchObject({
    whole: false,
    noted: { head, seq: null },
  });
});

test('a head that is none is a wrong command line', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', []);
  const { exitCode, errors } = await verify(folder.path, '--head', 'abc');
  expect(exitCode).toBe(2);
  expect(errors).toContain('usage.head_invalid');
});
