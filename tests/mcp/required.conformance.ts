import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Listening } from '@holdfast/mcp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseline } from './baseline.ts';
import { listenForStarts } from './conformance-client.ts';
import { serveFixtures } from './conformance-fixtures.ts';

// The official conformance suite, against the proxy as a server and `mcpTools` as a client.
const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const starter = fileURLToPath(new URL('conformance-start.ts', import.meta.url));

// Beside all the others at once it does not get its time on a busy machine.
const alone = 'sep-2322-client-request-state';

let server: Listening;
let client: Awaited<ReturnType<typeof listenForStarts>>;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-conformance-'));
  [server, client] = await Promise.all([serveFixtures(), listenForStarts()]);
});

afterAll(async () => {
  client.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  { side: 'server', revision: '2025-11-25', passes: 21 },
  { side: 'server', revision: '2026-07-28', passes: 25 },
  { side: 'client', revision: '2025-11-25', passes: 4 },
  { side: 'client', revision: '2026-07-28', passes: 4 },
] as const)('as a $side of $revision all required scenarios pass but for the baseline', async (row) => {
  const { scored, failed } = await runSuite(row);
  const known = Object.values(baseline[row.side]).flat();
  // A scenario of the baseline that passes leaves it.
  expect(failed).toEqual(scored.filter((name) => known.includes(name)));
  expect(scored.length - failed.length).toBe(row.passes);
});

test(`as a client, ${alone} passes`, async () => {
  const command = [process.execPath, starter, client.port].join(' ');
  const words = [suite, 'client', '--command', command, '--scenario', alone, '--spec-version', '2026-07-28'];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd: folder });
  expect(stdout + stderr).toContain('OVERALL: PASSED');
});

interface SuiteResult {
  /** In the order in which they ran. */
  readonly scored: readonly string[];
  readonly failed: readonly string[];
}

async function runSuite({
  side,
  revision,
}: {
  readonly side: 'server' | 'client';
  readonly revision: string;
}): Promise<SuiteResult> {
  const command = [process.execPath, starter, client.port].join(' ');
  const where = side === 'server' ? ['--url', server.url] : ['--command', command];
  const words = [suite, side, ...where, '--requirements', revision, '--timeout', '60000'];
  const output = await new Promise<string>((resolve, reject) => {
    // It exits with 1 where anything fails.
    execFile(process.execPath, words, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null || (error.code === 1 && stdout !== '')) resolve(stdout);
      else reject(new Error(stderr, { cause: error }));
    });
  });
  const [results = '', unscored = ''] = output.split(/^Not scored for .*$/m);
  const extra = [...unscored.matchAll(/^ {2}[✓✗] (\S+) /gm)].map(([, name]) => name);
  const ran = [...results.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed/gm)].flatMap(([, mark, name = '']) =>
    name === alone || extra.includes(name) ? [] : [{ name, failed: mark === '✗' }],
  );
  return { scored: ran.map(({ name }) => name), failed: ran.filter(({ failed }) => failed).map(({ name }) => name) };
}
