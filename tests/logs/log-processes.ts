import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { expect } from 'vitest';
import { random } from '../setup/random.ts';

const program = fileURLToPath(new URL('./log-writer.ts', import.meta.url));

/** A `log-writer.ts` that runs. */
class Writer {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #output = '';
  #errors = '';
  #wake: () => void = () => undefined;

  constructor(path: string, snapshotAfterBytes?: number) {
    const parameters = [path, ...(snapshotAfterBytes === undefined ? [] : [String(snapshotAfterBytes)])];
    this.#child = spawn(process.execPath, ['--conditions=holdfast-source', program, ...parameters]);
    this.#ended = once(this.#child, 'close').then(() => this.#wake());
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#output += text.toString();
      this.#wake();
    });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#errors += text.toString();
    });
    // Told to a process that was killed.
    this.#child.stdin?.on('error', () => undefined);
  }

  /** Whole lines only: the last one may have been cut by a kill. */
  get lines(): readonly string[] {
    return this.#output.split('\n').slice(0, -1);
  }

  tell(command: string): void {
    this.#child.stdin?.write(`${command}\n`);
  }

  async saidLines(count: number): Promise<readonly string[]> {
    while (this.lines.length < count) {
      if (this.#errors !== '' || this.#child.exitCode !== null) throw new Error(`The writer failed: ${this.#errors}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.lines;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

export interface KillsSeen {
  kills: number;
  /** Snapshots in the log at the end; each has begun a new file. */
  snapshots: number;
  acknowledged: number;
  torn: number;
}

/**
 * Kills processes that append to a log; each continues what the one before left. After each kill every record that was
 * acknowledged is there, and the log opens.
 */
export async function checkKills(
  { kills, bytes, snapshotAfterBytes }: { kills: number; bytes: number; snapshotAfterBytes?: number },
  seen: KillsSeen,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kills-'));
  const path = join(folder, 's.jsonl');
  try {
    let acknowledged = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const writer = new Writer(path, snapshotAfterBytes);
      await writer.saidLines(1);
      writer.tell('open');
      writer.tell(`write ${bytes}`);
      // At 1 it may not have opened the log yet.
      await writer.saidLines(1 + Math.floor(random() * 30));
      await writer.kill();
      const said = writer.lines.slice(1);
      if (said.length > 0) expect(said[0]).toBe('opened');
      const notes = said.slice(1).map(Number);
      acknowledged = (notes.at(-1) ?? acknowledged - 1) + 1;
      checkLog(path, acknowledged, bytes);
      seen.kills += 1;
      seen.acknowledged += notes.length;
      if (existsSync(path) && readLog(path).torn !== undefined) seen.torn += 1;
    }
    const writer = new Writer(path);
    writer.tell('open');
    expect(await writer.saidLines(2)).toEqual(['ready', 'opened']);
    await writer.kill();
    openJsonlLog(path).store.close();
    // Nothing that was acknowledged was moved aside, and no lock is left.
    for (const name of readdirSync(folder)) if (name.includes('.torn-')) checkTorn(join(folder, name));
    expect(existsSync(`${path}.lock`)).toBe(false);
    const snapshots = readLog(path).records.filter(({ type }) => type === 'snapshot');
    const older = readdirSync(folder).filter((name) => name.includes('.before-'));
    expect(older.toSorted()).toEqual(snapshots.map(({ seq }) => `s.jsonl.before-${seq}`).toSorted());
    expect(existsSync(`${path}.next`)).toBe(false);
    seen.snapshots += snapshots.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkLog(path: string, acknowledged: number, bytes: number): void {
  if (!existsSync(path)) {
    expect(acknowledged).toBe(0);
    return;
  }
  const { records, problem } = readLog(path);
  expect(problem).toBeUndefined();
  expect(records.length).toBeGreaterThanOrEqual(acknowledged);
  const notes = records.filter(({ type, seq }) => seq > 0 && type !== 'snapshot');
  const wrong = notes.filter(({ seq, text }) => text !== String(seq).padEnd(bytes, '.'));
  expect(wrong).toEqual([]);
}

function checkTorn(path: string): void {
  expect(readFileSync(path).includes(10)).toBe(false);
  expect(statSync(path).size).toBeGreaterThan(0);
}

/** Lets `writers` processes open a log at once whose writer was killed, `rounds` times: each time exactly one has it. Answers how often one had. */
export async function checkRaces({ rounds, writers: count }: { rounds: number; writers: number }): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-races-'));
  let opened = 0;
  const path = join(folder, 's.jsonl');
  const lock = `${path}.lock`;
  const left = join(folder, 'left.lock');
  const writers: Writer[] = [];
  try {
    const dead = new Writer(path);
    dead.tell('open');
    await dead.saidLines(2);
    await dead.kill();
    copyFileSync(lock, left);
    for (let index = 0; index < count; index += 1) writers.push(new Writer(path));
    await Promise.all(writers.map((writer) => writer.saidLines(1)));
    for (let round = 0; round < rounds; round += 1) {
      writeFileSync(lock, readFileSync(left));
      for (const writer of writers) writer.tell('open');
      const answers = await Promise.all(writers.map(async (writer) => (await writer.saidLines(2 + 2 * round)).at(-1)));
      expect(answers.toSorted()).toEqual([...Array<string>(count - 1).fill('log.locked'), 'opened']);
      opened += 1;
      for (const writer of writers) writer.tell('close');
      await Promise.all(writers.map((writer) => writer.saidLines(3 + 2 * round)));
      expect(readdirSync(folder).toSorted()).toEqual(['left.lock', 's.jsonl']);
    }
    return opened;
  } finally {
    await Promise.all(writers.map((writer) => writer.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}
