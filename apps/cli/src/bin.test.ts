import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('./bin.ts', import.meta.url));

test.each([
  { versions: { bun: '1.4.5' }, says: 'this is Bun 1.4.5. Start it with `npx holdfast`' },
  { versions: { deno: '2.9.6' }, says: 'this is Deno 2.9.6. Start it with `npx holdfast`' },
  { versions: { node: '22.17.1' }, says: 'this is 22.17.1.\n' },
])('$versions is told that it is not supported', ({ versions, says }) => {
  const change = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(change)}`, program, '--version'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(`holdfast needs Node.js 22.18 or later, and ${says}`);
});
