import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type Clock, describeThrown } from '@holdfast/core';
import { tagName } from '../child/tagged-programs.ts';
import type { Command, ProgramExit } from '../language/types.ts';
import { withoutInherited } from './inherited-descriptors.ts';
import type { ProcessGroups } from './process-groups.ts';

/** One run of a program. */
export interface ProgramRun {
  readonly command: Command;
  /** All that it has of one. */
  readonly environment: Readonly<Record<string, string>>;
  /** What it reads on standard input. */
  readonly input: string;
  /** Ends it, and what it has started. */
  readonly signal: AbortSignal;
  /** The most that it may write on standard output. */
  readonly maxOutputBytes: number;
  readonly groups: ProcessGroups;
  readonly clock: Clock;
  /** Told what it writes on standard error, in parts, cut. */
  print(text: string): void;
}

export type ProgramEnd =
  | ({ readonly type: 'exited' } & ProgramExit)
  | { readonly type: 'not-started'; readonly reason: string }
  /** It wrote more than can be taken: as its answer, or beside it. It has been killed. */
  | { readonly type: 'flooded'; readonly by: 'output' | 'text' }
  /** The signal fired. It has been killed. */
  | { readonly type: 'aborted'; readonly reason: unknown };

// What has left the group may hold the pipes open for ever; what was written before is read by then.
const settleMs = 1_000;
const maxLastWords = 8_192;

/**
 * Runs a program to its end as the leader of a process group of its own, without a descriptor of this process. When it ends, what it
 * has started is killed.
 */
export function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const { command, environment, input, signal, maxOutputBytes, groups, clock } = run;
  if (signal.aborted) return Promise.resolve({ type: 'aborted', reason: signal.reason });
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  const tag = randomUUID();
  const child = start(command, { ...environment, [tagName]: tag });
  if ('type' in child) return Promise.resolve(child);
  const { pid, stdin, stdout, stderr } = child;
  if (pid !== undefined) groups.add(pid, tag);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let lastWords = Buffer.alloc(0);
  const printed = new PrintedText((text) => run.print(text));
  printed.begin();
  let cancelTimer: () => void = () => undefined;

  function kill(): void {
    if (pid !== undefined) groups.end(pid);
  }
  // Only the first time counts; later ones find everything done.
  function end(how: ProgramEnd): void {
    signal.removeEventListener('abort', abort);
    cancelTimer();
    kill();
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    resolve(how);
  }
  function abort(): void {
    end({ type: 'aborted', reason: signal.reason });
  }

  signal.addEventListener('abort', abort, { once: true });
  stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > maxOutputBytes) end({ type: 'flooded', by: 'output' });
    else chunks.push(chunk);
  });
  stderr?.on('data', (chunk: Buffer) => {
    lastWords = Buffer.concat([lastWords, chunk]).subarray(-maxLastWords);
    if (!printed.add(chunk)) end({ type: 'flooded', by: 'text' });
  });
  // A program need not read what it is given, and may be gone.
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
  child.on('error', (error) => end({ type: 'not-started', reason: error.message }));
  child.on('exit', (code, by) => {
    const finish = (): void =>
      end({ type: 'exited', code, signal: by, output: Buffer.concat(chunks), lastWords: lastWords.toString('utf8') });
    // What it has started does not end with it.
    kill();
    child.on('close', finish);
    cancelTimer = clock.after(settleMs, finish);
  });
  stdin?.end(input);
  return promise;
}

function start(
  [program, ...parameters]: Command,
  environment: ProgramRun['environment'],
): ChildProcess | Extract<ProgramEnd, { readonly type: 'not-started' }> {
  try {
    return withoutInherited(3, (more) =>
      spawn(program, parameters, {
        detached: true,
        env: environment,
        stdio: ['pipe', 'pipe', 'pipe', ...more],
        windowsHide: true,
      }),
    );
  } catch (thrown) {
    // Such as more arguments than the system takes.
    return { type: 'not-started', reason: describeThrown(thrown) };
  }
}

// What a host is told of one call, and what a call may print at all, in bytes.
const maxToldBytes = 64 * 1024;
const maxBytes = 64 * 1024 * 1024;

/** What a tool prints, cut to a size that anybody can take. */
export class PrintedText {
  readonly #tell: (text: string) => void;
  #decoder = new TextDecoder();
  #bytes = 0;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** A call begins. */
  begin(): void {
    this.#bytes = 0;
    this.#decoder = new TextDecoder();
  }

  /** False when it is more than a call may print. */
  add(chunk: Uint8Array): boolean {
    const told = chunk.subarray(0, Math.max(0, maxToldBytes - this.#bytes));
    this.#bytes += chunk.byteLength;
    if (told.byteLength > 0) this.#tell(this.#decoder.decode(told, { stream: true }));
    if (told.byteLength > 0 && this.#bytes >= maxToldBytes) this.#tell('\n[what follows is left out]\n');
    return this.#bytes <= maxBytes;
  }
}
