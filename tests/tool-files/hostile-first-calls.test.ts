import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { kindOf } from '../calls/call-fixtures.ts';
import { goodTwin, harmfulBodies, metadataFile } from './hostile-tool-files.ts';
import { type Canaries, createCanaries } from './tool-file-canaries.ts';

let base = '';
let canaries: Canaries;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-first-'));
  canaries = await createCanaries(base);
});
afterEach(async () => {
  await canaries.close();
  rmSync(base, { recursive: true, force: true });
});

const mark = 'FIRST_CALLS_TEST_MARK';

/** Processes that have the mark of this test in their environment. */
function findMarked(): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes(`${mark}=${base}`);
    } catch {
      // It has just ended, or is not ours.
      return false;
    }
  });
}

/** Everything that a file could change if it ran in this process. */
function lookAtHost(): unknown {
  return [
    Reflect.get({}, 'dangerous'),
    [Array.prototype.some, JSON.parse, Promise.prototype.then, Reflect.get(globalThis, 'process') === process],
    [process.cwd(), process.umask(), process.exitCode, process.listenerCount('uncaughtException')],
    { ...process.env },
  ];
}

const timeoutMs = 1000;

// Files that only trip the canary do so anywhere: some of them here, all of them in `npm run long`.
const bodies = harmfulBodies.filter(([body], index) => inject('long') > 0 || !body.includes('TRIP') || index % 4 === 0);

test.skipIf(process.platform !== 'linux')(
  'the first call of every harmful file ends by itself or at its deadline, and the host and the other tools are as they were',
  async () => {
    const folder = join(base, 'tools');
    mkdirSync(folder);
    const put = (file: string, text: string): void => writeFileSync(join(folder, file), text);
    for (const [index, [body]] of bodies.entries()) {
      const text = metadataFile(`subject-${index}-x`, { timeoutMs: `${timeoutMs}`, environment: `['${mark}']` });
      const begin = `try { ${canaries.trip} } catch {}\nconsole.log('in');\n`;
      put(`x${index}.mjs`, `${begin}${text}${body.replaceAll('TRIP', '1')}\n`);
    }
    put('_trip.mjs', 'export const trap = 1;\nexport default () => 1;\n');
    put('twin.mjs', goodTwin('twin', 'metadata', '1'));

    process.env[mark] = base;
    const before = lookAtHost();
    const clock = manualClock();
    let hangs = false;
    const { tools, close } = await loadTools(folder, {
      environment: () => process.env,
      processes: {
        // The file has been begun. Its time is over now where it does not end by itself.
        print: () => void (hangs && clock.advance(timeoutMs)),
      },
    });
    const call = async (name: string): Promise<string> => {
      const request = { id: 'c', name, arguments: { city: 'Rome' } };
      const outcome = await executeToolCall(request, { tools, session: createSession(), clock });
      if (outcome.kind === 'suspended') throw new Error('No call asks here.');
      expect(outcome.text).not.toContain(base);
      expect(outcome.text.length).toBeLessThan(1024);
      return kindOf(outcome) ?? `${outcome.kind} ${JSON.stringify(outcome.value)}`;
    };
    const ends: string[] = [];
    for (const [index, [body, code]] of bodies.entries()) {
      hangs = code === 'call.timeout';
      ends.push(`${body} ${await call(`subject-${index}-x`)}`);
    }
    hangs = false;
    expect(await call('twin')).toBe('ok "Rome"');
    await close();

    expect(ends).toEqual(bodies.map(([body, code]) => `${body} ${code ?? 'ok "Rome"'}`));
    expect(lookAtHost()).toEqual(before);
    delete process.env[mark];
    // They have run, as their ends show. What says that it changes nothing outside may write nowhere.
    expect(await canaries.tripped()).toEqual([]);
    while (findMarked().length > 0) await new Promise((resolve) => setImmediate(resolve));
  },
);
