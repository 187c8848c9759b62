import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CrashesSeen, checkSession, nothingSeen } from './crash-check.ts';
import { type CrashPlace, type Place, Receiver } from './crash-places.ts';

const program = fileURLToPath(new URL('./crash-worker.ts', import.meta.url));

export interface CrashOptions extends Place {
  /**
   * `kill`: one worker at a time. `two`: two on the same sessions. `stop`: stopped past its lease, and continued. `lapse`: working, but
   * without its database, until past its lease.
   */
  readonly how: 'kill' | 'two' | 'stop' | 'lapse';
  /** For `lapse`: the database as the first worker reaches it, and what it sends there is held. */
  readonly cutOff?: { readonly settings: object; readonly hold: () => void; readonly release: () => void };
  readonly crashes: number;
  readonly random: () => number;
  /** Called once in each round while workers run. */
  readonly disturb?: (() => Promise<void>) | undefined;
}

/** A worker of its own process. */
export class Worker {
  readonly done: Set<number> = new Set();
  readonly told: string[] = [];
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #ready = Promise.withResolvers<void>();
  #said = '';

  constructor(place: CrashPlace, receiver: string) {
    const parameters = ['--conditions=holdfast-source', '--disable-warning=ExperimentalWarning', program];
    const child = spawn(process.execPath, [...parameters, JSON.stringify({ ...place, receiver })]);
    this.#process = child;
    child.stderr.on('data', (chunk) => {
      this.#said += String(chunk);
    });
    createInterface(child.stdout).on('line', (line) => {
      const [word, ...rest] = line.split(' ');
      if (word === 'ready') this.#ready.resolve();
      if (word === 'done') this.done.add(Number(rest[0]));
      if (word === 'told') this.told.push(rest.join(' '));
    });
    this.ended = once(child, 'close').then(() => {
      this.#ready.resolve();
      if (child.signalCode === null && child.exitCode !== 0) throw new Error(`A worker failed:\n${this.#said}`);
      return child.exitCode;
    });
    // Awaited later.
    this.ended.catch(() => undefined);
  }

  async run(from: number, to: number): Promise<void> {
    await this.#ready.promise;
    this.#process.stdin?.end(`${from} ${to}\n`);
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(name);
  }

  async end(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended.catch(() => undefined);
  }
}

/** Crashes workers at random instants, lets the last ones end every session, and checks all logs against what the outside received. */
export async function crash({
  place,
  read,
  how,
  crashes,
  random,
  disturb,
  cutOff,
}: CrashOptions): Promise<CrashesSeen> {
  await using receiver = new Receiver(random);
  await receiver.listen();
  const skewed = (): CrashPlace => ({ ...place, skewMs: Math.round((random() - 0.5) * 172_800_000) });
  // Ended with the test, which may fail before.
  await using workers = new AsyncDisposableStack();
  const begin = (first = false): Worker => {
    const behind = first && cutOff !== undefined ? { settings: cutOff.settings } : {};
    const worker = new Worker({ ...skewed(), ...behind }, receiver.path);
    workers.defer(() => worker.end());
    return worker;
  };
  const told = new Map<string, Set<string>>();
  const done = new Set<number>();
  const note = (worker: Worker): void => {
    for (const number of worker.done) done.add(number);
    for (const each of worker.told) {
      const [id = '', callId = ''] = each.split(' ');
      told.set(id, (told.get(id) ?? new Set()).add(callId));
    }
  };
  const firstOpen = (): number => {
    let number = 0;
    while (done.has(number)) number += 1;
    return number;
  };
  // Started ahead, because starting takes longer than working until the crash.
  const seen = nothingSeen();
  let next = begin(true);
  for (let crashed = 0; crashed < crashes; crashed += 1) {
    const worker = next;
    next = begin(true);
    const from = firstOpen();
    await worker.run(from, from + 1_000);
    const others: Worker[] = [];
    if (how === 'two') {
      const other = begin();
      others.push(other);
      await other.run(from, from + 1_000);
    }
    // Work is under way on a slow machine, too; the instant within it is any.
    const requests = 1 + Math.floor(random() * 12);
    if (how === 'lapse') {
      const answer = await Promise.race([receiver.holdAfter(requests), worker.ended.then(() => () => undefined)]);
      cutOff?.hold();
      const other = begin();
      others.push(other);
      await other.run(from, firstOpen() + worker.done.size + 1);
      await other.ended;
      answer();
      cutOff?.release();
      await wait(random() * 100);
    } else {
      await Promise.all([Promise.race([receiver.more(requests), worker.ended]), disturb?.()]);
      await wait(random() * 10);
    }
    if (how === 'stop') {
      worker.signal('SIGSTOP');
      const other = begin();
      others.push(other);
      const open = firstOpen() + worker.done.size;
      await other.run(from, open + 1);
      await other.ended;
      worker.signal('SIGCONT');
      await wait(random() * 100);
    }
    for (const each of [worker, ...others]) each.signal('SIGKILL');
    for (const each of [worker, ...others]) {
      if ((await each.ended) === null) seen.kills += 1;
      note(each);
    }
  }
  const numbers = receiver.effects.map(({ session }) => Number(session.split('-')[1]));
  const last = Math.max(0, ...numbers, ...done) + 1;
  await next.run(0, last);
  await next.ended;
  note(next);

  for (let number = 0; number < last; number += 1) {
    const id = `session-${number}`;
    const { records, problem } = await read(id);
    const effects = receiver.effects.filter(({ session }) => session === id);
    checkSession(records, effects, told.get(id) ?? new Set(), seen);
    if (problem !== undefined) seen.problems.push(`${id} cannot be read: ${String(problem)}`);
  }
  return seen;
}
