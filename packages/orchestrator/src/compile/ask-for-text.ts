import {
  type Deadline,
  describeThrown,
  type FinishReason,
  type Message,
  type Model,
  type ModelUsage,
} from '@holdfast/core';
import { readOneMessage } from '@holdfast/executor';

export interface AskForTextOptions {
  readonly messages: readonly Message[];
  readonly signal?: AbortSignal | undefined;
  readonly deadline?: Deadline | undefined;
  /** A longer answer is a failure, and is not read to its end; an event without text counts as one character. Default 1,000,000. */
  readonly maxCharacters?: number;
}

/** What came of asking a model for one text without offering it a tool. */
export type AskedText =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly reason: FinishReason;
      /** How many tools it called all the same. */
      readonly calls: number;
      readonly usage: ModelUsage | undefined;
    }
  /** `text` is what had come until then. */
  | { readonly type: 'failed'; readonly message: string; readonly cause: unknown; readonly text: string };

/**
 * Reads one message of `model`. Whatever the model does is an answer; only the reason of an aborted `signal` is thrown, at once, also
 * where the model does not heed it.
 */
export async function askForText(
  model: Model,
  { messages, signal: outer, deadline, maxCharacters = 1_000_000 }: AskForTextOptions,
): Promise<AskedText> {
  outer?.throwIfAborted();
  const reading = await readOneMessage(model, { messages, tools: [], deadline }, { signal: outer, maxCharacters });
  outer?.throwIfAborted();
  const { text } = reading;
  switch (reading.type) {
    case 'message':
      return { type: 'text', text, reason: reading.reason, calls: reading.calls.length, usage: reading.usage };
    case 'threw':
      return { type: 'failed', message: describeThrown(reading.thrown), cause: reading.thrown, text };
    case 'wrong':
      return { type: 'failed', message: reading.problem, cause: undefined, text };
    case 'ended':
      throw outer?.reason;
    default:
      return reading satisfies never;
  }
}
