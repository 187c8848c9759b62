import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@holdfast/core';
import type { SessionStore } from '@holdfast/session';

/** A stream to write to, and what it is. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** A stream to read from, and whether a person sits at it. */
export type InputStream = Readable & { readonly isTTY?: boolean };

/**
 * Why a run has to stop before its end: Ctrl-C, SIGTERM, a terminal that was closed (SIGHUP), nobody reads stdout any more, or an
 * exception that nobody caught.
 */
export type Interruption = 'ctrl-c' | 'terminated' | 'hung-up' | 'stdout-closed' | 'crash';

/** What the program needs of the process it runs in. Tests bring their own. */
export interface Host {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How this program is called, for hints. */
  readonly command: string;
  /** Where relative paths start. */
  readonly directory: string;
  readonly clock: Clock;
  /** A short random word: lower-case letters and digits. */
  createSuffix(): string;
  /** Opens a new session log. @throws HoldfastError `log.exists`, `log.unwritable`. */
  openLog(path: string): SessionStore | Promise<SessionStore>;
  /** Asks a server. */
  fetch(url: string, options: { readonly signal: AbortSignal; readonly redirect: 'error' }): Promise<Response>;
  /** Calls back when a run has to stop; the returned function ends that. */
  onInterrupt(listener: (cause: Interruption) => void): () => void;
  /** Lets the program fail, and say `message`, when something else ends it before the returned function is called. */
  guardExit(message: string): () => void;
  /** Takes stdout for the caller alone: what anybody else prints goes to stderr from then on. */
  reserveStdout(): (text: string) => void;
}

/** What may be shown on a stream. */
export interface Terminal {
  readonly color: boolean;
  /** Whether lines may be rewritten. */
  readonly live: boolean;
  /** Columns of a line; `Infinity` when it is no terminal. */
  readonly columns: number;
}

/** Finds out what `stream` can show. `NO_COLOR` and `FORCE_COLOR` are obeyed, in that order. */
export function describeTerminal(stream: OutputStream, environment: Host['environment']): Terminal {
  const isTerminal = stream.isTTY === true;
  const isDumb = environment['TERM'] === 'dumb';
  return {
    color: wantsColor(environment) ?? (isTerminal && !isDumb),
    // Lines of a terminal of unknown size, which reports 0 columns, cannot be rewritten: nobody knows where they break.
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

/** Which streams carry something else, so that no question can be put there. */
export interface TakenStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
}

/** Where a question can be put to a person: stdout, else stderr, or nowhere. */
export function findQuestionStream(host: Host, taken: TakenStreams): OutputStream | undefined {
  if (taken.stdin || host.stdin.isTTY !== true) return undefined;
  if (!taken.stdout && host.stdout.isTTY === true) return host.stdout;
  return host.stderr.isTTY === true ? host.stderr : undefined;
}
