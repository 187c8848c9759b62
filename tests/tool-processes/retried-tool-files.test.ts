import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';

/** Writes a file of its own in every attempt, which the host counts, and fails as `fails` says until the third. */
const toFile = (fails: string): string => `export const METADATA = {
  name: 'flaky', function: 'work', description: 'Fails at first.', dangerous: false, effects: 'state', repeat: 'safe',
  retry: { attempts: 3, delayMs: 0 }, parameters: { type: 'object', properties: {} },
};
export async function work(_input, { call, filesystem }) {
  const { value } = await call('count');
  await filesystem.write('try-' + value + '.txt', 'x');
  if (value < 3) ${fails};
  return value;
}
`;

test.each([
  { isolation: 'in-process', fails: "throw new Error('busy')" },
  { isolation: 'worker', fails: "throw new Error('busy')" },
  { isolation: 'subprocess', fails: "throw new Error('busy')" },
  { isolation: 'worker', fails: 'process.exit(7)' },
  { isolation: 'subprocess', fails: 'process.exit(7)' },
] as const)('a tool file with retry, $isolation, that fails by `$fails`', async ({ isolation, fails }) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-retry-'));
  await writeFile(join(folder, 'flaky.mjs'), toFile(fails));
  const { tools, close } = await loadTools(folder, { isolation });
  try {
    let count = 0;
    const counting = defineTool({
      name: 'count',
      description: 'Counts.',
      effects: 'none',
      execute: () => {
        count += 1;
        return count;
      },
    });
    const filesystem = memoryFilesystem({});
    const retries: string[] = [];
    const outcome = await executeToolCall(
      { id: 'c', name: 'flaky', arguments: {} },
      {
        tools: [...tools, counting],
        session: createSession(),
        resources: { filesystem },
        onEvent: (event) => void (event.type === 'tool-call-retry' && retries.push(event.code)),
      },
    );
    expect(outcome).toMatchObject({ kind: 'ok', value: 3, attempts: 3 });
    expect((await filesystem.readOnly.list('')).map(({ path }) => path)).toEqual(['try-3.txt']);
    const code = fails.startsWith('throw') ? 'tool.threw' : 'tool.process.lost';
    expect(retries).toEqual([code, code]);
  } finally {
    await close();
    await rm(folder, { recursive: true, force: true });
  }
});
