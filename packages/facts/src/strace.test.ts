import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place, PlaceView } from '@holdfast/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeCommand } from './index.ts';
import { nodeDisk } from './node-disk.ts';

const hasStrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-strace-')));
const fresh = join(root, 'fresh');
const work = join(root, 'w');
const view: PlaceView = { folder: work, workspace: work, home: work, disk: nodeDisk() };
const lines = readFileSync(new URL('./test-harmless-lines.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);

beforeAll(() => {
  for (const folder of ['sub', 'sub2', 'empty']) mkdirSync(join(fresh, folder), { recursive: true });
  for (const name of ['a.txt', 'c.txt', 'sub/b.txt', 'sub2/b.txt']) writeFileSync(join(fresh, name), `plain ${name}\n`);
  writeFileSync(join(fresh, 'names'), 'a.txt c.txt\n');
  writeFileSync(join(fresh, 'vars.sh'), '#!/bin/sh\nx=1\n', { mode: 0o755 });
  writeFileSync(join(fresh, 'data.json'), '{"a":1}\n');
  writeFileSync(join(fresh, 'fix.diff'), '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-plain a.txt\n+patched\n');
  spawnSync('tar', ['cf', 'data.tar', 'a.txt', 'sub'], { cwd: fresh });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Seen {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly deletes: readonly string[];
}

/** Files of the folder that the processes of a script opened, made, changed and removed. */
function watch(line: string): Seen {
  const out = join(root, 'trace');
  const calls = 'trace=open,openat,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2';
  spawnSync('strace', ['-f', '-qq', '-y', '-s', '4096', '-e', calls, '-o', out, 'bash', '-c', line], {
    cwd: work,
    input: '',
    env: { PATH: '/usr/bin:/bin', HOME: work },
  });
  const seen = { reads: new Set<string>(), writes: new Set<string>(), deletes: new Set<string>() };
  for (const call of readFileSync(out, 'utf8').split('\n')) {
    const opened = /open(?:at)?\(.*?, (O_[A-Z_|]+).* = \d+<([^>]+)>/.exec(call);
    if (opened !== null && opened[1]?.includes('O_DIRECTORY') === false) {
      const isWritten = /O_WRONLY|O_RDWR|O_CREAT/.test(opened[1] ?? '');
      seen[isWritten ? 'writes' : 'reads'].add((opened[2] ?? '').replace(/ \(deleted\)$/, ''));
    }
    const removed = /(?:unlinkat|renameat2?|renameat)\([^<]*<([^>]+)>, "([^"]+)"/.exec(call);
    const plain = /(?:unlink|rmdir|rename)\("([^"]+)"/.exec(call);
    const name = removed === null ? plain?.[1] : removed[2];
    if (name !== undefined && call.endsWith(' = 0'))
      seen.deletes.add(name.startsWith('/') ? name : join(removed?.[1] ?? work, name));
  }
  // Ignores temporary files: absent before and after.
  const counts = (path: string): boolean =>
    path.startsWith(`${work}/`) && !path.includes('/.git/') && !path.includes('/new/');
  const lasting = (path: string): boolean =>
    counts(path) && (existsSync(path) || existsSync(path.replace(work, fresh)));
  return {
    reads: [...seen.reads].filter(lasting),
    writes: [...seen.writes].filter(lasting),
    deletes: [...seen.deletes].filter(
      (path) => counts(path) && existsSync(path.replace(work, fresh)) && !existsSync(path),
    ),
  };
}

function covers(places: readonly Place[], path: string): boolean {
  return places.some(
    (place) => place.path === path || (place.recursive !== undefined && path.startsWith(`${place.path}/`)),
  );
}

test.skipIf(!hasStrace)('over a hundred lines touch only the files in their facts (skipped without `strace`)', () => {
  expect(lines.length).toBeGreaterThan(100);
  const missing: string[] = [];
  const unclear: string[] = [];
  for (const line of lines) {
    rmSync(work, { recursive: true, force: true });
    cpSync(fresh, work, { recursive: true, verbatimSymlinks: true });
    const facts = describeCommand(line, view);
    // Unclear lines make no claim.
    if (facts.unclear.some(({ kind }) => kind !== 'project')) {
      unclear.push(line);
      continue;
    }
    const { reads, writes, deletes } = watch(line);
    const changes = [...facts.writes, ...facts.deletes];
    for (const path of reads)
      if (!covers([...facts.reads, ...changes], path)) missing.push(`${line}: reads ${path.slice(work.length + 1)}`);
    for (const path of writes)
      if (!covers(changes, path)) missing.push(`${line}: writes ${path.slice(work.length + 1)}`);
    for (const path of deletes)
      if (!covers(changes, path)) missing.push(`${line}: deletes ${path.slice(work.length + 1)}`);
  }
  expect(missing).toEqual([]);
  expect(unclear).toMatchInlineSnapshot(`
      [
        "grep -rl p . | xargs cat",
        "sed -n 'r c.txt' a.txt",
        "bash -c 'cat "$1"' _ a.txt",
        "xargs cat < names",
        "echo a.txt | xargs cat",
        "echo a.txt | xargs -I{} cp {} {}.bak",
        "h() { cat "$1"; }; h a.txt",
        ". ./vars.sh; cat c.txt",
        "shuf a.txt",
        "perl -ne print a.txt",
      ]
    `);
});
