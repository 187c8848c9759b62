import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findProgram, toolEnvironment } from '@holdfast/loader/language';
import { type PythonOutline, readPythonOutline } from './outline.ts';
import { pythonOutlineProgram } from './outline-program.ts';

export type PythonReading =
  | PythonOutline
  /** There is no Python to read it. */
  | { readonly type: 'unavailable'; readonly reason: string };

/** Reads Python files without running them, in one Python process that starts on first use. */
export interface PythonReader extends AsyncDisposable {
  read(source: string): Promise<PythonReading>;
}

interface Waiting {
  readonly source: string;
  resolve(reading: PythonReading): void;
}

/** Isolated mode: ignores the current folder and environment variables, and writes nothing. */
export const isolatedPython: readonly string[] = ['-I', '-B', '-X', 'utf8'];
const oldestPython: readonly [number, number] = [3, 8];
// Many times what a file of 1 MiB needs on a slow and busy machine.
const timeoutMs = 60_000;

/** Dispose of it at the end. */
export function createPythonReader(): PythonReader {
  return new OneProcessReader();
}

class OneProcessReader implements PythonReader {
  /** In order of arrival. */
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
    // Keeps this program alive until the process has ended.
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
    // Its exit is handled below.
    child.stdin.on('error', () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    child.on('error', (error) => {
      this.#giveUp(`cannot start \`python3\`: ${error.message}`);
      resolve();
    });
    child.on('close', () => {
      resolve();
      this.#child = undefined;
      if (!isReady) this.#giveUp('`python3` exits on start');
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

  /** The file being read crashed the process, or took too long. */
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

  /** Keeps this program alive, or not. */
  #hold(held: boolean): void {
    const { stdin, stdout } = this.#child ?? {};
    for (const handle of [this.#child, stdin, stdout]) {
      // Pipes have both; the type here is that of any stream.
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
  if (major === undefined || minor === undefined) return '`python3` does not respond like Python';
  const [oldestMajor, oldestMinor] = oldestPython;
  const isNew = Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
  return isNew
    ? undefined
    : `\`python3\` is version ${major}.${minor}, but ${oldestMajor}.${oldestMinor} or later is required`;
}
