import { isCancel, type Option, select } from '@clack/prompts';
import { HoldfastError } from '@holdfast/core';
import type { InputStream, OutputStream } from './host.ts';

export interface Choice<Value> {
  readonly message: string;
  readonly options: Option<Value>[];
  /** What Enter alone means. */
  readonly initialValue: Value;
  readonly input: InputStream;
  readonly output: OutputStream;
  /** Takes the question back. */
  readonly signal?: AbortSignal;
  /** Called for Ctrl-C. Default: it is thrown. */
  readonly onInterrupt?: () => void;
}

/**
 * Puts a choice to the person at the terminal; `undefined` for Escape, and for a question that was taken back.
 *
 * @throws HoldfastError `terminal.interrupted` for Ctrl-C.
 */
export async function choose<Value>({ onInterrupt, ...question }: Choice<Value>): Promise<Value | undefined> {
  let interrupted = false;
  const watch = (chunk: Buffer | string): void => {
    if (chunk.includes('\x03')) interrupted = true;
  };
  // The prompt reports Escape and Ctrl-C alike, and in raw mode no signal comes.
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
