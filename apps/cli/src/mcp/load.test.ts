import { expect, test } from 'vitest';
import { loadMcp } from './load.ts';

test('the package is loaded', async () => {
  expect(Object.keys(await loadMcp())).toEqual(expect.arrayContaining(['mcpTools', 'serveMcp']));
});

test('without the package, the error says how to install it', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(loadMcp(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'mcp.unreachable',
    reason: 'not_installed',
    data: { hint: expect.stringContaining('npm install @holdfast/mcp') },
  });
});

test('a package that fails to load is another error', async () => {
  const broken = new Error('broken');
  await expect(loadMcp(() => Promise.reject(broken))).rejects.toBe(broken);
});
