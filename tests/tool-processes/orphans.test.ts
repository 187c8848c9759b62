import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-orphans-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const host = `
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
const { tools } = await loadTools(process.argv[1], { environment: () => process.env });
const onEvent = ({ type }) => { if (type === 'tool-call-progress') console.log('in'); };
await executeToolCall({ id: 'c', name: 'loop', arguments: {} }, { tools, session: createSession(), onEvent });
`;

/** Processes with the mark of this test in their environment. */
function findMarked(): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes(`ORPHAN=${folder}`);
    } catch {
      // It has just ended, or is not ours.
      return false;
    }
  });
}

// The available processes of this system.
const canBind = spawnSync('sh', ['-c', 'setpriv --pdeathsig KILL true']).status === 0;

test.skipIf(!canBind)('a tool that loops forever does not outlive a host that is killed', async () => {
  writeFileSync(
    join(folder, 'loop.mjs'),
    `export const METADATA = { name: 'loop', function: 'loop', description: 'Loops.', dangerous: false, environment: ['TEST_ORPHAN'], parameters: { type: 'object', properties: {} } };
export function loop(input, { progress }) { progress('in'); for (;;); }`,
  );
  const child = spawn(
    process.execPath,
    ['--conditions=holdfast-source', '--input-type=module', '--eval', host, folder],
    {
      cwd: import.meta.dirname,
      env: { PATH: process.env['PATH'], TEST_ORPHAN: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const loops = await new Promise<boolean>((resolve) => {
    child.stdout.on('data', () => resolve(true));
    child.on('exit', () => resolve(false));
  });
  expect(loops).toBe(true);
  // The host and the tool.
  expect(findMarked().length).toBeGreaterThanOrEqual(2);
  child.kill('SIGKILL');
  while (findMarked().length > 0) await new Promise((resolve) => setImmediate(resolve));
});
