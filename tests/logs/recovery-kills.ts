import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type LogRecord, verifySnapshots } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { readSqliteLog } from '@holdfast/session/sqlite';
import { expect, inject } from 'vitest';
import { createRandom } from '../setup/random.ts';
import { doubtsOf, findDoubts, findInconsistencies, keyOf, readEffects } from './recovery-kills-check.ts';
import { type Home, logPath, notes, openLife, recoverLife, type StoreKind, sessionId } from './recovery-kills-life.ts';
import type { Fatal } from './recovery-kills-operations.ts';

const program = fileURLToPath(new URL('./recovery-kills-worker.ts', import.meta.url));

/** The results of many kills, added up. */
export interface KillsSeen {
  kills: number;
  /** Before the log was open; while it was recovered; while calls were made. */
  opening: number;
  recovering: number;
  working: number;
  records: number;
  outcomes: number;
  effects: number;
  inDoubt: number;
  cancelled: number;
  snapshots: number;
}

export function noKills(): KillsSeen {
  return {
    kills: 0,
    opening: 0,
    recovering: 0,
    working: 0,
    records: 0,
    outcomes: 0,
    effects: 0,
    inDoubt: 0,
    cancelled: 0,
    snapshots: 0,
  };
}

export interface KillOptions {
  readonly store: StoreKind;
  readonly bytes: number;
  readonly sync: 'process' | 'disk';
  readonly kills: number;
  /** Chooses the instants. */
  readonly random: () => number;
}

/** A folder for what processes compile, which is most of their start otherwise. */
export async function makeCompileCache(): Promise<{ readonly path: string } & Disposable> {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-compiled-'));
  for (const store of ['jsonl', 'sqlite'] as const) {
    const folder = join(path, store);
    mkdirSync(folder);
    // It is written when a process ends by itself.
    const worker = new Worker({ store, folder, bytes: 1, sync: 'process' }, { cache: path, steps: 0 });
    await worker.ended;
    expect(worker.errors).toBe('');
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

interface WorkerOptions {
  readonly cache: string;
  readonly steps?: number;
  readonly fatal?: Fatal;
}

/** A process that runs `recovery-kills-worker.ts`. */
class Worker {
  readonly ended: Promise<unknown>;
  errors = '';
  readonly #child: ChildProcess;
  #output = '';
  #heard: () => void = () => undefined;

  constructor(home: Home, { cache, steps = Number.POSITIVE_INFINITY, fatal }: WorkerOptions) {
    const temporary = join(home.folder, 'tmp');
    mkdirSync(temporary, { recursive: true });
    this.#child = spawn(
      process.execPath,
      [
        ...['--conditions=holdfast-source', program, JSON.stringify(home), String(steps)],
        ...(fatal === undefined ? [] : [JSON.stringify(fatal)]),
      ],
      { env: { ...process.env, NODE_COMPILE_CACHE: cache, TMPDIR: temporary }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.ended = once(this.#child, 'close').then(() => this.#heard());
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#output += text.toString();
      this.#heard();
    });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.errors += text.toString();
    });
  }

  /** Whole lines only: the last one may have been cut by the kill. */
  get lines(): readonly string[] {
    return this.#output.split('\n').slice(0, -1);
  }

  /** Those that it made, when it ended by itself. */
  get operations(): number | undefined {
    const [last, count] = this.lines.at(-1)?.split(' ') ?? [];
    return last === 'operations' ? Number(count) : undefined;
  }

  async says(enough: (lines: readonly string[]) => boolean): Promise<void> {
    while (!enough(this.lines)) {
      if (this.errors !== '' || this.#child.exitCode !== null) throw new Error(`The process ended: ${this.errors}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** Kills the processes of one session one after another, each at an instant that is drawn, and checks after the last what they leave. */
export async function killAll(
  { kills, cache, random, ...rest }: KillOptions & { readonly cache: string },
  seen: KillsSeen,
): Promise<void> {
  const home: Home = { ...rest, folder: mkdtempSync(join(tmpdir(), 'holdfast-killed-')) };
  const known = { acknowledged: new Set<number>(), outcomes: new Map<string, string>() };
  await keepingOnFailure(home, async () => {
    for (let kill = 0; kill < kills; kill += 1) note(await live(home, cache, random), known, seen);
    await recoverAndCheck(home, known, seen);
  });
}

/**
 * Lets a process end itself at every `step`-th of its operations on files while it makes `calls`, and checks after each what it
 * leaves. Answers how many operations there are.
 */
export async function killAtOperations(
  {
    step,
    calls,
    half,
    cache,
    ...rest
  }: Omit<KillOptions, 'kills' | 'random'> &
    Pick<Fatal, 'half'> & { readonly step: number; readonly calls: number; readonly cache: string },
  seen: KillsSeen,
): Promise<number> {
  for (let at = Math.floor(createRandom()() * step); ; at += step) {
    const home: Home = { ...rest, folder: mkdtempSync(join(tmpdir(), 'holdfast-killed-')) };
    const known = { acknowledged: new Set<number>(), outcomes: new Map<string, string>() };
    let operations: number | undefined;
    await keepingOnFailure(home, async () => {
      const worker = new Worker(home, { cache, steps: calls, fatal: { at, half } });
      await worker.ended;
      expect(worker.errors).toBe('');
      operations = worker.operations;
      if (operations === undefined) note(worker.lines, known, seen);
      await recoverAndCheck(home, known, seen);
    });
    if (operations !== undefined) return operations;
  }
}

/** Everything that the log has promised holds, after one more recovery. */
async function recoverAndCheck(home: Home, known: Known, seen: KillsSeen): Promise<void> {
  const { acknowledged } = known;
  const life = openLife(home);
  expect(life.found).toBeGreaterThan(Math.max(-1, ...acknowledged));
  await recoverLife(life);
  const kept = doubtsOf(life.session);
  await life.session.close();
  const records = readAll(home);
  expect(kept).toEqual(findDoubts(records));
  const kinds = check(home, records, known);
  const { problem, compared } = verifySnapshots(records, { slices: [notes] });
  expect(problem).toBeUndefined();
  seen.snapshots += compared;
  seen.effects += ['deploy', 'gated', 'post', 'release'].flatMap((name) => readEffects(home.folder, name)).length;
  seen.inDoubt += kinds.filter((kind) => kind === 'in-doubt').length;
  seen.cancelled += kinds.filter((kind) => kind === 'cancelled').length;
  expect(readdirSync(home.folder).filter((name) => name.endsWith('.lock'))).toEqual([]);
}

async function keepingOnFailure(home: Home, use: () => Promise<void>): Promise<void> {
  try {
    await use();
  } catch (cause) {
    // Kept to be looked at.
    throw new Error(`What is left of ${home.store} with ${home.bytes} bytes a record lies in ${home.folder}`, {
      cause,
    });
  }
  rmSync(home.folder, { recursive: true, force: true });
}

/** One process from its start to its kill; answers what it said. */
async function live(home: Home, cache: string, random: () => number): Promise<readonly string[]> {
  const worker = new Worker(home, { cache });
  try {
    const phase = random();
    const count = Math.floor(random() * 40);
    if (phase < 0.3) await worker.says((lines) => lines.length >= (phase < 0.12 ? 1 : 2));
    else await worker.says((lines) => lines.includes('ready') && lines.length >= count);
    // Opening and recovering take a few milliseconds, and so does a call.
    if (inject('long') > 0) await wait(random() * 15);
  } finally {
    await worker.kill();
  }
  expect(worker.errors).toBe('');
  return worker.lines;
}

interface Known {
  readonly acknowledged: Set<number>;
  readonly outcomes: Map<string, string>;
}

function note(lines: readonly string[], { acknowledged, outcomes }: Known, seen: KillsSeen): void {
  seen.kills += 1;
  if (lines.includes('ready')) seen.working += 1;
  else if (lines.some((line) => line.startsWith('opened'))) seen.recovering += 1;
  else seen.opening += 1;
  for (const line of lines) {
    const [what, first = '', second = ''] = line.split(' ');
    if (what === 'opened') {
      expect(Number(first)).toBeGreaterThan(Math.max(-1, ...acknowledged));
      // One that had the same number was never acknowledged.
    } else if (what === 'record') {
      const seq = Number(first);
      expect(acknowledged.has(seq)).toBe(false);
      acknowledged.add(seq);
      seen.records += 1;
    } else if (what === 'outcome') {
      outcomes.set(first, second);
      seen.outcomes += 1;
    }
  }
}

function readAll(home: Home): readonly LogRecord[] {
  const path = logPath(home);
  const { records, problem } = home.store === 'jsonl' ? readLog(path) : readSqliteLog(path, { sessionId });
  expect(problem).toBeUndefined();
  expect(records.every(({ seq }, index) => seq === index)).toBe(true);
  return records;
}

/** Answers how the calls ended. */
function check(home: Home, records: readonly LogRecord[], { acknowledged, outcomes }: Known): readonly string[] {
  expect(records.length).toBeGreaterThan(Math.max(-1, ...acknowledged));
  expect(findInconsistencies(records, home.folder)).toEqual([]);
  const ends = records.filter(({ type }) => type === 'tool-call-end');
  const kinds = new Map(ends.map((end) => [keyOf(end), (end['outcome'] as { readonly kind: string }).kind]));
  for (const [key, kind] of outcomes) expect([key, kinds.get(key)]).toEqual([key, kind]);
  return [...kinds.values()];
}
