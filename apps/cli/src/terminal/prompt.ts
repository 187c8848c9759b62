import { isCancel, type Option, select } from '@clack/prompts';
import { HoldfastError } from '@holdfast/core';
import type { InputStream, OutputStream } from './host.ts';

export interface Choice<Value> {
  readonly message: string;
  readonly options: Option<Value>[];
  /** The choice for Enter alone. */
  readonly initialValue: Value;
  readonly input: InputStream;
  readonly output: OutputStream;
  /** Withdraws the question. */
  readonly signal?: AbortSignal;
  /** Called on Ctrl-C. Default: throws. */
  readonly onInterrupt?: () => void;
}

/**
 * Asks a person at the terminal to choose; `undefined` for Escape or a withdrawn question.
 *
 * @throws HoldfastError `terminal.interrupted` for Ctrl-C.
 */
export async function choose<Value>({ onInterrupt, ...question }: Choice<Value>): Promise<Value | undefined> {
  let interrupted = false;
  const watch = (chunk: Buffer | string): void => {
    if (chunk.includes('\x03')) interrupted = true;
  };
  // The prompt does not distinguish Escape from Ctrl-C, and in raw mode there is no signal.
  question.input.on('data', watch);
  try {
    const answer = await select(question);
    if (!interrupted) return isCancel(answer) ? undefined : answer;
    if (onInterrupt === undefined) throw new HoldfastError('terminal.interrupted', 'Interrupted; nothing has run.');
    onInterrupt();
    return undefined;
  } finally {
    question.input.off('data', watch);
  }
}
