import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runNode } from '../documents/documents.ts';

const toFile = (name: string, body: string): string => `export const METADATA = {
  name: '${name}', function: 'work', description: 'Works.', dangerous: false, effects: 'external',
  parameters: { type: 'object', properties: {} },
};
export async function work() { ${body} return 1; }
`;

test('a host stays alive until everything it waits for has ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-waits-'));
  const leaves = { idle: '', soon: 'setImmediate(() => {});', timer: 'setTimeout(() => {}, 60_000);' };
  for (const [name, body] of Object.entries(leaves)) await writeFile(join(folder, `${name}.mjs`), toFile(name, body));
  const program = fileURLToPath(new URL('./lonely-waits-host.ts', import.meta.url));
  // It has no terminal, and what it writes to is a pipe: nothing keeps it alive but what it waits for.
  const { status, output } = await runNode(['--conditions=holdfast-source', program, folder], { cwd: folder });
  const twice = (what: string): readonly string[] => [`${what} ok`, `${what} ok`];
  expect({ status, lines: output.trim().split('\n') }).toEqual({
    status: 0,
    lines: [
      'retry ok',
      'timeout timed-out',
      'deadline timed-out',
      'policy denied',
      'approval denied',
      ...['worker', 'subprocess'].flatMap((tier) => Object.keys(leaves).flatMap((name) => twice(`${tier} ${name}`))),
      'end',
    ],
  });
  await rm(folder, { recursive: true });
});
