import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@holdfast/core';
import type { SessionStore } from '@holdfast/session';

/** An output stream, and its terminal size. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** An input stream; `isTTY` if a person uses it. */
export type InputStream = Readable & { readonly isTTY?: boolean };

/**
 * Why a run must stop early: Ctrl-C, SIGTERM, a closed terminal (SIGHUP), a closed stdout, or an uncaught
 * exception.
 */
export type Interruption = 'ctrl-c' | 'terminated' | 'hung-up' | 'stdout-closed' | 'crash';

/** The program's interface to its process. Tests provide their own. */
export interface Host {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The command that starts this program, for hints. */
  readonly command: string;
  /** The base of relative paths. */
  readonly directory: string;
  readonly clock: Clock;
  /** A short random word: lower-case letters and digits. */
  createSuffix(): string;
  /** Opens a new session log. @throws HoldfastError `log.exists`, `log.write_failed`. */
  openLog(path: string): SessionStore | Promise<SessionStore>;
  /** Sends an HTTP request. */
  fetch(url: string, options: { readonly signal: AbortSignal; readonly redirect: 'error' }): Promise<Response>;
  /** Calls `listener` on an interruption; the returned function unsubscribes. */
  onInterrupt(listener: (cause: Interruption) => void): () => void;
  /** If the process exits before the returned function is called, prints `message` and fails. */
  guardExit(message: string): () => void;
  /** Reserves stdout for the caller: all other output to it goes to stderr. */
  reserveStdout(): (text: string) => void;
}

/** The capabilities of a stream. */
export interface Terminal {
  readonly color: boolean;
  /** True if lines can be rewritten. */
  readonly live: boolean;
  /** The line width; `Infinity` if it is not a terminal. */
  readonly columns: number;
}

/** Determines what `stream` can show. Follows `NO_COLOR` and `FORCE_COLOR`, in that order. */
export function describeTerminal(stream: OutputStream, environment: Host['environment']): Terminal {
  const isTerminal = stream.isTTY === true;
  const isDumb = environment['TERM'] === 'dumb';
  return {
    color: wantsColor(environment) ?? (isTerminal && !isDumb),
    // A terminal of unknown size reports 0 columns; without knowing where lines wrap, they cannot be rewritten.
    live: isTerminal && !isDumb && stream.columns !== 0,
    columns: isTerminal ? stream.columns || 80 : Number.POSITIVE_INFINITY,
  };
}

function wantsColor(environment: Host['environment']): boolean | undefined {
  const { NO_COLOR: noColor, FORCE_COLOR: forceColor } = environment;
  if (noColor !== undefined && noColor !== '') return false;
  if (forceColor !== undefined && forceColor !== '') return forceColor !== '0' && forceColor !== 'false';
  return undefined;
}

/** Streams in other use, where no question can be asked. */
export interface TakenStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
}

/** The stream for questions to a person: stdout, else stderr, or none. */
export function findQuestionStream(host: Host, taken: TakenStreams): OutputStream | undefined {
  if (taken.stdin || host.stdin.isTTY !== true) return undefined;
  if (!taken.stdout && host.stdout.isTTY === true) return host.stdout;
  return host.stderr.isTTY === true ? host.stderr : undefined;
}
