import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findProgram, toolEnvironment } from '@holdfast/loader/language';
import { type PythonOutline, readPythonOutline } from './outline.ts';
import { pythonOutlineProgram } from './outline-program.ts';

export type PythonReading =
  | PythonOutline
  /** There is no Python that could read it. */
  | { readonly type: 'unavailable'; readonly reason: string };

/** Reads Python files without running them, in one process of Python, which is started when it is first needed. */
export interface PythonReader extends AsyncDisposable {
  read(source: string): Promise<PythonReading>;
}

interface Waiting {
  readonly source: string;
  resolve(reading: PythonReading): void;
}

/** The isolated mode: neither the current folder nor variables of the environment say what Python loads, and nothing is written. */
export const isolatedPython: readonly string[] = ['-I', '-B', '-X', 'utf8'];
const oldestPython: readonly [number, number] = [3, 8];
// Of a file of 1 MiB on a slow and busy machine, many times over.
const timeoutMs = 60_000;

/** To be disposed of at the end. */
export function createPythonReader(): PythonReader {
  return new OneProcessReader();
}

class OneProcessReader implements PythonReader {
  /** First come, first served. */
  readonly #waiting: Waiting[] = [];
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** Why there is no Python. */
  #missing: string | undefined;
  #cancelTimer: () => void = () => undefined;

  read(source: string): Promise<PythonReading> {
    if (this.#missing !== undefined) return Promise.resolve({ type: 'unavailable', reason: this.#missing });
    const { promise, resolve } = Promise.withResolvers<PythonReading>();
    this.#waiting.push({ source, resolve });
    if (this.#child === undefined) this.#start();
    else {
      this.#ask(source);
      if (this.#waiting.length === 1) this.#watch();
    }
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelTimer();
    // Whoever waits for its end has to hear of it.
    this.#hold(true);
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  #start(): void {
    const program = findProgram('python3');
    if (program === undefined) {
      this.#giveUp('there is no `python3` on the PATH');
      return;
    }
    const child = spawn(program, [...isolatedPython, '-S', '-W', 'ignore', '-c', pythonOutlineProgram], {
      env: toolEnvironment(),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    this.#child = child;
    let isReady = false;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (isReady) {
        this.#answer(line);
        return;
      }
      isReady = true;
      const problem = findVersionProblem(line);
      if (problem !== undefined) this.#giveUp(problem);
    });
    // It tells of its end by itself.
    child.stdin.on('error', () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    child.on('error', (error) => {
      this.#giveUp(`\`python3\` cannot be started: ${error.message}`);
      resolve();
    });
    child.on('close', () => {
      resolve();
      this.#child = undefined;
      if (!isReady) this.#giveUp('`python3` ends before it has begun');
      else this.#replace();
    });
    for (const { source } of this.#waiting) this.#ask(source);
    this.#watch();
  }

  #ask(source: string): void {
    this.#child?.stdin?.write(`${JSON.stringify({ source })}\n`);
  }

  #answer(line: string): void {
    this.#waiting.shift()?.resolve(readPythonOutline(line));
    this.#watch();
  }

  /** The file that is being read has ended the process, or was taking too long. */
  #replace(): void {
    this.#waiting.shift()?.resolve({ type: 'complex' });
    this.#cancelTimer();
    if (this.#waiting.length > 0) this.#start();
  }

  #watch(): void {
    this.#cancelTimer();
    this.#hold(this.#waiting.length > 0);
    if (this.#waiting.length === 0) return;
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), timeoutMs);
    this.#cancelTimer = () => clearTimeout(timer);
  }

  /** Whether it keeps this program alive. */
  #hold(held: boolean): void {
    const { stdin, stdout } = this.#child ?? {};
    for (const handle of [this.#child, stdin, stdout]) {
      // Pipes have both; their type here is that of any stream.
      const holder = handle as { ref?(): void; unref?(): void } | null | undefined;
      if (held) holder?.ref?.();
      else holder?.unref?.();
    }
  }

  #giveUp(reason: string): void {
    this.#missing ??= reason;
    this.#cancelTimer();
    for (const { resolve } of this.#waiting.splice(0)) resolve({ type: 'unavailable', reason: this.#missing });
  }
}

/** `undefined`: it is new enough. */
export function findVersionProblem(line: string): string | undefined {
  const [, major, minor] = /^\{"version": \[(\d+), (\d+), \d+\]/.exec(line) ?? [];
  if (major === undefined || minor === undefined) return '`python3` does not answer as Python does';
  const [oldestMajor, oldestMinor] = oldestPython;
  const isNew = Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
  return isNew ? undefined : `\`python3\` is ${major}.${minor}, and ${oldestMajor}.${oldestMinor} is needed`;
}
