import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Clock } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { tagName } from '../child/tagged-programs.ts';
import type { Command, ProgramExit } from '../language/types.ts';
import { withoutInherited } from './inherited-descriptors.ts';
import type { ProcessGroups } from './process-groups.ts';

/** One run of a program. */
export interface ProgramRun {
  readonly command: Command;
  /** Its complete environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input: string;
  /** Kills it and the programs that it started. */
  readonly signal: AbortSignal;
  /** Limit of its standard output. */
  readonly maxOutputBytes: number;
  readonly groups: ProcessGroups;
  readonly clock: Clock;
  /** Receives its standard error in parts, cut. */
  print(text: string): void;
}

export type ProgramEnd =
  | ({ readonly type: 'exited' } & ProgramExit)
  | { readonly type: 'not-started'; readonly reason: string }
  /** It wrote too much, as output or as text, and was killed. */
  | { readonly type: 'flooded'; readonly by: 'output' | 'text' }
  /** The signal fired, and it was killed. */
  | { readonly type: 'aborted'; readonly reason: unknown };

// Programs that left the group may keep the pipes open forever; by then, all earlier output is read.
const settleMs = 1_000;
const maxLastWords = 8_192;

/**
 * Runs a program to its end as the leader of its own process group, without inherited descriptors. At its end, programs
 * that it started are killed.
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
  // Only the first end counts.
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
  // A program may ignore its input, or have ended.
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
  child.on('error', (error) => end({ type: 'not-started', reason: error.message }));
  child.on('exit', (code, by) => {
    const finish = (): void =>
      end({ type: 'exited', code, signal: by, output: Buffer.concat(chunks), lastWords: lastWords.toString('utf8') });
    // Programs that it started may still run.
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
    // Such as too many arguments for the system.
    return { type: 'not-started', reason: describeThrown(thrown) };
  }
}

// Bytes: the printed text of a call that a host receives, and the limit of printed text.
const maxToldBytes = 64 * 1024;
const maxBytes = 64 * 1024 * 1024;

/** The printed text of a tool, cut to a bounded size. */
export class PrintedText {
  readonly #tell: (text: string) => void;
  #decoder = new TextDecoder();
  #bytes = 0;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** Starts a call. */
  begin(): void {
    this.#bytes = 0;
    this.#decoder = new TextDecoder();
  }

  /** False if it exceeds the limit of a call. */
  add(chunk: Uint8Array): boolean {
    const told = chunk.subarray(0, Math.max(0, maxToldBytes - this.#bytes));
    this.#bytes += chunk.byteLength;
    if (told.byteLength > 0) this.#tell(this.#decoder.decode(told, { stream: true }));
    if (told.byteLength > 0 && this.#bytes >= maxToldBytes) this.#tell('\n[further output is not shown]\n');
    return this.#bytes <= maxBytes;
  }
}
