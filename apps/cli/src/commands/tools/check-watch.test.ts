import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Interruption } from '../../terminal/host.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runMain, toTool } from '../../testing/test-program.ts';
import { checkLines } from '../../testing/test-schemas.ts';
import { watchFolder } from './check-watch.ts';

interface Watching {
  /** Resolves with the output from now on once it contains `text`. */
  until(text: string): Promise<string>;
  write(path: string, content: string): Promise<void>;
  remove(path: string): Promise<void>;
  end(cause: Interruption): Promise<ExitCode>;
  readonly ended: Promise<ExitCode>;
  /** From now on, printing fails. */
  breakOutput(): void;
  stdout(): string;
}

async function startWatching(
  folder: string,
  { json = false, strict = false }: { readonly json?: boolean; readonly strict?: boolean } = {},
): Promise<Watching> {
  const { host, stdout, interrupt } = createTestHost({ directory: folder });
  let from = 0;
  let look = (): void => undefined;
  host.stdout.on('data', () => look());
  const ended = watchFolder({ folder: 'plugins', strict, subfolders: false, json }, host);
  return {
    until: (text) =>
      new Promise((resolve) => {
        look = () => {
          const seen = stdout().slice(from);
          if (!seen.includes(text)) return;
          from = stdout().length;
          look = () => undefined;
          resolve(seen);
        };
        look();
      }),
    async write(path, content) {
      // Atomically, so that no half-written file is reported.
      await writeFile(join(folder, 'aside'), content);
      await rename(join(folder, 'aside'), join(folder, path));
    },
    remove: (path) => rm(join(folder, path)),
    async end(cause) {
      interrupt(cause);
      return await ended;
    },
    ended,
    breakOutput() {
      vi.spyOn(host.stdout, 'write').mockImplementation(() => {
        throw new Error('no output');
      });
    },
    stdout,
  };
}

const broken = 'export const METADATA = {';

test('a folder is checked again after each change', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;') });
  const watching = await startWatching(folder.path);
  expect(await watching.until('to stop.\n\n')).toBe(
    '1 valid tool, 0 errors, 0 warnings\n\nWatching plugins; press Ctrl-C to stop.\n\n',
  );
  await watching.write('plugins/two.mjs', toTool('two', 'return 2;'));
  expect(await watching.until('2 valid tools')).toBe('new      two  two.mjs\n2 valid tools, 0 errors, 0 warnings\n\n');
  await watching.write('plugins/one.mjs', broken);
  expect(await watching.until('1 valid tool,')).toMatch(
    /^kept {5}one {2}one\.mjs {2}last valid version\nplugins\/one\.mjs:1:\d+ error tool\.file\.invalid: syntax .*\n {2}hint: .*\n\n1 valid tool, 1 error, 0 warnings\n\n$/,
  );
  await watching.write('plugins/one.mjs', toTool('one', 'return 3;'));
  expect(await watching.until('2 valid tools')).toBe('changed  one  one.mjs\n2 valid tools, 0 errors, 0 warnings\n\n');
  await watching.remove('plugins/one.mjs');
  expect(await watching.until('1 valid tool,')).toBe('removed  one\n1 valid tool, 0 errors, 0 warnings\n\n');
  await watching.write('plugins/three.mjs', `import './_gone.mjs';\n${toTool('three', 'return 3;')}`);
  const missing = await watching.until('1 valid tool,');
  expect(missing).toContain('three.mjs:1:8 error tool.import.invalid: missing');
  await watching.write('plugins/_gone.mjs', 'export {};');
  await watching.until('2 valid tools, 0 errors');
  await watching.remove('plugins/_gone.mjs');
  const kept = await watching.until('1 valid tool,');
  expect(kept).toContain('kept     three  three.mjs');
  expect(kept.split('tool.import.invalid: missing')).toHaveLength(2);
  await watching.remove('plugins/three.mjs');
  await watching.until('1 valid tool, 0 errors');
  await watching.write('plugins/two.mjs', toTool('read-file', 'return 2;'));
  expect(await watching.until('0 valid tools')).toContain('two.mjs:1:1 error tool.invalid: name.taken');
  expect(await watching.end('ctrl-c')).toBe(0);
  // Nothing ran, so nothing was copied.
  expect(await readdir(folder.path)).toEqual(['plugins']);
});

test('JSON output is one line per check and matches the schema', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;') });
  const watching = await startWatching(folder.path, { json: true });
  await watching.until('\n');
  await watching.write('plugins/one.mjs', broken);
  await watching.until('\n');
  expect(await watching.end('ctrl-c')).toBe(0);
  expect(await checkLines('check-watch', watching.stdout())).toEqual(new Set(['checked']));
  const lines = watching
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { tools: [{ name: 'one', file: 'one.mjs' }], diagnostics: [], kept: [] },
    {
      tools: [],
      diagnostics: [{ code: 'tool.file.invalid', reason: 'syntax' }],
      kept: ['one'],
      added: [],
      changed: [],
      removed: [],
    },
  ]);
});

test('warnings are errors when strict', async () => {
  await using folder = await createFolder({
    'plugins/one.mjs': toTool('one', 'return 1;').replace("dangerous: false, effects: 'none',", ''),
  });
  const watching = await startWatching(folder.path, { strict: true });
  expect(await watching.until('to stop.')).toContain('0 valid tools, 1 error, 0 warnings');
  expect(await watching.end('terminated')).toBe(143);
});

test('a missing folder cannot be watched', async () => {
  await using folder = await createFolder();
  const { host } = createTestHost({ directory: folder.path });
  await expect(
    watchFolder({ folder: 'plugins', strict: false, subfolders: false, json: false }, host),
  ).rejects.toMatchObject({ code: 'usage.invalid', reason: 'folder_missing' });
});

test('the program: Ctrl-C exits with 0', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;') });
  const { exitCode, stdout, stderr } = await runMain(['check', 'plugins', '--watch'], {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('to stop.') && !child.killed) child.kill('SIGINT');
    },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain('1 valid tool, 0 errors, 0 warnings\n');
});

test('an error while printing ends the watch', async () => {
  await using folder = await createFolder({ 'plugins/one.mjs': toTool('one', 'return 1;') });
  const watching = await startWatching(folder.path);
  await watching.until('to stop.\n\n');
  watching.breakOutput();
  await watching.write('plugins/two.mjs', toTool('two', 'return 2;'));
  await expect(watching.ended).rejects.toThrow('no output');
});
