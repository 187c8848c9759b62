import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@holdfast/core';
import { digestJson } from '@holdfast/core/internal';
import { afterAll, expect, test } from 'vitest';
import { describeCommand } from './index.ts';
import { nodeDisk } from './node.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-disk-')));
mkdirSync(join(root, 'sub'));
writeFileSync(join(root, 'a.txt'), 'plain');
symlinkSync('a.txt', join(root, 'link'));
afterAll(() => rmSync(root, { recursive: true }));

test('it reports entries, follows no links, and never throws', () => {
  const disk = nodeDisk(root);
  expect(disk.look(join(root, 'a.txt'))).toEqual({ type: 'file' });
  expect(disk.look(join(root, 'sub'))).toEqual({ type: 'folder' });
  expect(disk.look(join(root, 'link'))).toEqual({ type: 'link', target: 'a.txt' });
  expect(disk.look(join(root, 'gone'))).toEqual({ type: 'missing' });
  expect(disk.look('/dev/null')).toEqual({ type: 'other' });
  expect(disk.look(`${root}/\0`)).toEqual({ type: 'other' });
  expect(disk.list(root)?.toSorted()).toEqual(['a.txt', 'link', 'sub']);
  expect(disk.list(join(root, 'a.txt'))).toBeUndefined();
  expect(disk.readText(join(root, 'a.txt'), 5)).toBe('plain');
  expect(disk.readText(join(root, 'a.txt'), 4)).toBeUndefined();
  expect(disk.readText(join(root, 'gone'), 4)).toBeUndefined();
});

test.skipIf(process.platform === 'win32')('a pipe is not read', () => {
  execFileSync('mkfifo', [join(root, 'pipe')]);
  expect(nodeDisk(root).readText(join(root, 'pipe'), 100)).toBeUndefined();
});

test('facts are JSON, and their digest changes when a link is redirected', async () => {
  const view = { folder: root, workspace: root, disk: nodeDisk(root) };
  const digest = () => digestJson(describeCommand('cd nosuch; cat link; ls', view) as unknown as Json);
  const before = await digest();
  expect(await digest()).toBe(before);
  rmSync(join(root, 'link'));
  symlinkSync('/etc/passwd', join(root, 'link'));
  expect(await digest()).not.toBe(before);
});
