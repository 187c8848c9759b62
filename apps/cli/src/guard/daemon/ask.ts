import { connect } from 'node:net';
import type { HookAnswer } from '@holdfast/guard/agents';
import type { HookQuestion } from '../hook.ts';
import type { Announcement } from './place.ts';

/** A line of JSON to the daemon. */
export interface DaemonQuestion extends HookQuestion {
  readonly token: string;
  /** The hook's working directory. */
  readonly directory: string;
}

/** Asks a daemon to end if its own hooks have been quiet. */
export interface DaemonLeave {
  readonly token: string;
  readonly leave: true;
}

/** More than any answer. */
const maxAnswerLength = 1_048_576;

/**
 * The daemon's answer to a hook. `undefined` for anything but a whole and proven one in time: the caller decides by itself, and finds in
 * the log what the daemon has decided meanwhile.
 */
export function askDaemon(
  { socket, token, proof }: Announcement,
  question: Omit<DaemonQuestion, 'token'>,
  withinMs: number,
): Promise<HookAnswer | undefined> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    const finish = (answer?: HookAnswer): void => {
      clearTimeout(timer);
      connection.destroy();
      resolve(answer);
    };
    const timer = setTimeout(finish, withinMs);
    let text = '';
    connection.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.endsWith('\n')) finish(readAnswer(text, proof));
      else if (text.length > maxAnswerLength) finish();
    });
    connection.once('error', () => finish()).once('close', () => finish());
    connection.write(`${JSON.stringify({ ...question, token } satisfies DaemonQuestion)}\n`);
  });
}

function readAnswer(line: string, expected: string): HookAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { proof, stdout, stderr, exitCode } = value as Partial<Record<string, unknown>>;
  if (proof !== expected || typeof stdout !== 'string' || typeof stderr !== 'string') return undefined;
  return exitCode === 0 || exitCode === 2 ? { stdout, stderr, exitCode } : undefined;
}

/** Tells a daemon about a hook that it could not serve. False: nobody listens. */
export function askToLeave({ socket, token }: Announcement): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.once('error', () => resolve(false)).once('connect', () => resolve(true));
    connection.end(`${JSON.stringify({ token, leave: true } satisfies DaemonLeave)}\n`);
    connection.unref();
  });
}
