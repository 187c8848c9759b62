import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunEvent } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { type Isolation, loadTools } from '@holdfast/loader';
import { describeIsolation } from '@holdfast/loader/internal';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runNode } from '../documents/documents.ts';
import { type BlockingWay, blockingMark, blockingTimeoutMs, blockingWays, toBlockingTool } from './blocking-tools.ts';

const tiers = await describeIsolation();
const isAvailable = (tier: Isolation): boolean => tiers.some((one) => one.tier === tier && one.available);

/** True if the tier claims to stop this. */
function isPromised(tier: Isolation, { inside }: BlockingWay): boolean {
  const harm = inside ? 'loops forever' : 'blocks outside JavaScript';
  return tiers.some(({ tier: name, stops }) => name === tier && stops.includes(harm));
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-blocking-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Programs that have the mark of this test in their environment, whatever they are called. */
function findMarked(): readonly string[] {
  const marked = `${blockingMark}=${folder}`;
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(marked);
    } catch {
      // It has just ended, or is not ours.
      return false;
    }
  });
}

/** Calls a tool that blocks; its time is over as soon as it is about to. */
async function block(tier: Isolation, way: BlockingWay, text: string) {
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  writeFileSync(join(folder, 'block.mjs'), toBlockingTool(way, text.replace('SECONDS', '1000')));
  process.env[blockingMark] = folder;
  const { tools, close } = await loadTools(folder, { isolation: tier, environment: () => process.env });
  const clock = manualClock();
  const events: RunEvent[] = [];
  const outcome = await executeToolCall(
    { id: 'c', name: 'block', arguments: {} },
    {
      tools,
      session: createSession(),
      clock,
      onEvent(event) {
        events.push(event);
        if (event.type === 'tool-call-progress') clock.advance(blockingTimeoutMs);
      },
    },
  );
  delete process.env[blockingMark];
  const end = events.find((event) => event.type === 'tool-call-end');
  const told = events.filter((event) => event.type === 'tool-call-progress').length;
  return { outcome, isAbandoned: end?.abandoned === true, told, close };
}

const onLinux = process.platform === 'linux';
const rows = (tier: Isolation) => blockingWays.map((way) => ({ tier, way, what: way.what }));

test.skipIf(!onLinux).for([...rows('subprocess'), ...rows('sandbox')])(
  '$tier: $what is over when its time is, and nothing is left of it',
  async ({ tier, way }, { skip }) => {
    expect(isPromised(tier, way)).toBe(true);
    const { outcome, isAbandoned, told, close } = await block(tier, way, way.endless);
    if (!isAvailable(tier)) {
      expect(outcome).toMatchObject({ kind: 'failed', code: 'tool.process.not_started', reason: 'isolation' });
      skip('The sandbox cannot be tried here.');
    }
    // It declares effects outside, and nobody knows how far it came.
    expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'call.timeout' });
    expect(told).toBe(1);
    expect(isAbandoned).toBe(false);
    // Killed by the end of the call, not by `close`.
    while (findMarked().length > 0) await new Promise((resolve) => setImmediate(resolve));
    await close();
  },
);

test.skipIf(!onLinux).each(rows('worker'))(
  'worker: a call that blocks by $what ends when its time is over, and is said to be abandoned',
  async ({ tier, way }) => {
    expect(isPromised(tier, way)).toBe(way.inside);
    const { outcome, isAbandoned, told, close } = await block(tier, way, way.inside ? way.endless : way.passing);
    expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'call.timeout' });
    expect(told).toBe(1);
    expect(isAbandoned).toBe(true);
    // Endless code inside is stopped; waiting for something outside continues.
    await close();
  },
);

test.skipIf(!onLinux)(
  'in-process: nothing else goes on meanwhile, and the call comes to what its tool came to',
  async () => {
    const program = fileURLToPath(new URL('./blocking-in-process.ts', import.meta.url));
    const { output, status } = await runNode(['--conditions=holdfast-source', program, folder], { cwd: folder });
    expect(status, output).toBe(0);
    const seen = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(seen.map(({ what }) => what)).toEqual(blockingWays.map(({ what }) => what));
    for (const one of seen) expect(one).toMatchObject({ turns: 0, outcome: { kind: 'ok', value: 'out' } });
    for (const way of blockingWays) expect(isPromised('in-process', way)).toBe(false);
  },
);
