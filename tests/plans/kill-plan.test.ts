import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type PlanTrace, readTrace } from '@holdfast/orchestrator';
import type { LogRecord } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { expect, inject, test } from 'vitest';
import type { Fatal } from '../logs/recovery-kills-operations.ts';
import { shortKey } from '../logs/short-key.ts';
import { random } from '../setup/random.ts';
import { readEffects } from './test-kill-plan.ts';
import { nodeOf } from './test-run.ts';

const program = fileURLToPath(new URL('kill-plan-worker.ts', import.meta.url));

interface Ended {
  readonly output: string;
  readonly killed: boolean;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** A process that runs or resumes the plan of a folder. */
function start(folder: string, fatal?: Fatal): Started {
  const child = spawn(
    process.execPath,
    ['--conditions=holdfast-source', program, folder, ...(fatal === undefined ? [] : [JSON.stringify(fatal)])],
    { env: process.env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let errors = '';
  child.stdout?.on('data', (text: Buffer) => {
    output += text.toString();
  });
  child.stderr?.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const ended = once(child, 'close').then(() => {
    expect(errors).toBe('');
    return { output, killed: child.signalCode === 'SIGKILL' };
  });
  return { child, ended };
}

/** How many operations on files it takes when nobody ends it. */
let operations = 0;

test('nobody ends it: all is done once', async () => {
  await inFolder(async (folder) => {
    const { output } = await start(folder).ended;
    operations = Number(/ended succeeded (\d+)/.exec(output)?.[1]);
    check(folder);
    expect(readEffects(folder)).toHaveLength(5);
  });
});

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-plan-'));
  try {
    await use(folder);
  } catch (cause) {
    // Kept to be looked at.
    throw new Error(`What is left lies in ${folder}`, { cause });
  }
  rmSync(folder, { recursive: true, force: true });
}

/** True of a folder whose plan has ended, however often its process was killed. */
function check(folder: string): PlanTrace {
  const { records, problem } = readLog(join(folder, 's.jsonl'));
  expect(problem).toBeUndefined();
  const trace = readTrace(records);
  expect(['succeeded', 'partial', 'failed']).toContain(trace.status);
  const kept = readEffects(folder);
  const effects = kept.map(shortKey);
  // Calls that were run again had the same key.
  expect(new Set(kept).size).toBe(new Set(effects).size);
  const count = (id: string, tool: string): number =>
    effects.filter((effect) => effect === `${tool} s/${callOf(trace, id)}`).length;
  for (const { node, tool, kind } of trace.nodes) {
    const times = count(String(node), tool);
    const allowed = tool === 'post' ? ['ok', 'cancelled'] : tool === 'deploy' ? ['ok', 'in-doubt'] : ['ok'];
    expect([node, kind, allowed]).toEqual([node, expect.stringMatching(allowed.join('|')), allowed]);
    // Calls that must not be repeated were not, and their probe's answer holds.
    if (tool === 'post') expect([node, times]).toEqual([node, kind === 'ok' ? 1 : 0]);
    if (tool === 'deploy') expect(times).toBeLessThanOrEqual(1);
    if (tool === 'deploy' && kind === 'ok') expect(times).toBe(1);
    if (tool === 'mail' || tool === 'safe') expect(times).toBeGreaterThanOrEqual(1);
  }
  expect(readFileSync(join(folder, 'files', 'lines.txt'), 'utf8').match(/after/g)).toHaveLength(3);
  checkEnds(records);
  return trace;
}

function callOf(trace: PlanTrace, id: string): string {
  return nodeOf(trace, id).callId ?? '';
}

/** Each call has ended once, and none was begun again after that. */
function checkEnds(records: readonly LogRecord[]): void {
  const ended = new Set<unknown>();
  for (const { type, callId } of records) {
    if (type === 'tool-call-start' || type === 'tool-call-end') expect(ended.has(callId)).toBe(false);
    if (type === 'tool-call-end') ended.add(callId);
  }
  expect(ended.size).toBe(10);
}

const long = inject('long') > 0;

test.each(long ? [1, 2, 3, 4, 5, 6] : [1])('killed again and again while it works: round %i', async () => {
  await inFolder(async (folder) => {
    let kills = 0;
    for (let ended = false; !ended; ) {
      const process = start(folder);
      // Opening takes most of it; the ten nodes take about thirty milliseconds.
      if (kills < 4)
        await Promise.race([process.ended, once(process.child.stdout ?? process.child, 'data').then(pause)]);
      if (kills < 4) process.child.kill('SIGKILL');
      const { output, killed } = await process.ended;
      if (killed) kills += 1;
      ended = !killed || output.includes('ended');
    }
    expect(kills).toBeLessThanOrEqual(4);
    check(folder);
  });
});

async function pause(): Promise<void> {
  if (long) await wait(random() * 30);
}

test.each([false, true])('ended at any operation on files (half written: %s)', async (half) => {
  expect(operations).toBeGreaterThan(30);
  let kills = 0;
  const step = long ? 5 : Math.ceil(operations / 2);
  for (let at = Math.floor(random() * step); at < operations; at += step) {
    await inFolder(async (folder) => {
      const first = await start(folder, { at, half }).ended;
      if (first.killed) kills += 1;
      // And once more, while it goes on.
      await start(folder, { at: Math.floor(random() * 60), half }).ended;
      await start(folder).ended;
      check(folder);
    });
  }
  expect(kills).toBeGreaterThan(1);
});
