import { HoldfastError, isHoldfastError, type Message, type Model, type ToolDeclaration } from '@holdfast/core';
import { type MessageReading, readMessage } from '@holdfast/executor/internal';
import { addUsage, type LoopEnd } from '../loop/course.ts';
import { type LoopRun, stopped } from '../loop/rounds.ts';
import type { ToolCatalog } from '../loop/tool-catalog.ts';
import { modelFailed, withheld } from '../predict/ask.ts';
import type { Program } from '../signature/program.ts';
import type { Conversation } from './conversation.ts';

/** A run of `react`, with what it adds to every loop. */
export interface ReactRun extends LoopRun {
  readonly program: Program;
  readonly model: Model;
  /** The messages so far. */
  readonly conversation: Conversation;
}

/** An error text with the names of the available tools. */
export function listNames(text: string, { tools }: ToolCatalog, own: string): string {
  const names = tools.map(({ name }) => name).filter((name) => name !== own);
  const shown = names.slice(0, maxNames).map((name) => `\`${name}\``);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${text}. The tools are ${[...shown, `\`${own}\``].join(', ')}${more}. Names must match exactly.`;
}

const maxNames = 100;

/** The result of asking a model for one message of a loop. */
export type Reply =
  | (Extract<MessageReading, { readonly type: 'message' }> & {
      /** True if it exceeded the budget. */
      readonly overspent: boolean;
      readonly error?: undefined;
    })
  | { readonly type: 'ended'; readonly error?: undefined }
  | { readonly type: 'failed'; readonly error: HoldfastError };

export interface Question {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
}

/** A longer message fails and is not read to its end. */
const maxCharacters = 1_000_000;

/** Asks for one message and counts it. Failures of the model are returned. */
export async function ask(
  { messages, tools }: Question,
  { model, live: { caller, signal, deadline }, course }: ReactRun,
): Promise<Reply> {
  course.requests += 1;
  const request = { messages, tools, signal, deadline };
  const reading = await readMessage(model, request, { onEnd: caller.onEnd, maxCharacters });
  switch (reading.type) {
    case 'message': {
      const { usage } = reading;
      course.usage = addUsage(course.usage, usage);
      const overspent = usage !== undefined && caller.spend(usage);
      return reading.reason === 'content-filter'
        ? { type: 'failed', error: withheld(model) }
        : { ...reading, overspent };
    }
    case 'ended':
      return { type: 'ended' };
    case 'threw':
    case 'wrong':
      // A model stops at its signal by throwing.
      return caller.ended === undefined ? { type: 'failed', error: modelFailed(model, reading) } : { type: 'ended' };
    default:
      return reading satisfies never;
  }
}

/** The end of a run whose reply is not a message. */
export function endOf(reply: Exclude<Reply, { readonly type: 'message' }>, run: ReactRun): LoopEnd<never> {
  return reply.type === 'ended' ? stopped(run) : { type: 'unanswered', reason: 'failed', error: reply.error };
}

/** How often a request may be shortened. */
const maxShortenings = 3;

/**
 * Asks again with a shorter request if it was too long: `shorten` leaves out the oldest round and returns false if there is none. If it is
 * still too long, fails with `modules.failed`.
 *
 * Source: three attempts, as in DSPy `dspy/predict/react.py`, where the last one ends without an answer or an error.
 */
export async function askFitting<Answer extends { readonly type: string; readonly error?: HoldfastError | undefined }>(
  attempt: () => Promise<Answer>,
  shorten: () => boolean,
): Promise<Answer> {
  for (let left = maxShortenings; ; left -= 1) {
    const answer = await attempt();
    const { error } = answer;
    if (!isHoldfastError(error?.cause) || error.cause.code !== 'model.context_overflow') return answer;
    if (left === 0 || !shorten()) return { ...answer, error: tooLong(error, maxShortenings - left) };
  }
}

function tooLong({ cause }: HoldfastError, leftOut: number): HoldfastError {
  const tried =
    leftOut === 0 ? 'there are no rounds to leave out' : `leaving out the ${leftOut} oldest rounds did not help`;
  return new HoldfastError(
    'modules.failed',
    `The request exceeds the model's context window; ${tried}. Return shorter tool results, or use a model with a larger context window.`,
    { data: { reason: 'context_overflow', kind: 'ModelFailed', recoverable: false, leftOut }, cause },
  );
}
