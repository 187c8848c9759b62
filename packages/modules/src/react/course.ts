import { HoldfastError, isHoldfastError, type Message, type Model, type ToolDeclaration } from '@holdfast/core';
import { type MessageReading, readMessage } from '@holdfast/executor';
import { addUsage, type LoopEnd } from '../loop/course.ts';
import { type LoopRun, stopped } from '../loop/rounds.ts';
import type { ToolCatalog } from '../loop/tool-catalog.ts';
import { modelFailed, withheld } from '../predict/ask.ts';
import type { Program } from '../signature/program.ts';
import type { Conversation } from './conversation.ts';

/** What one run of `react` works with, beside what every loop does. */
export interface ReactRun extends LoopRun {
  readonly program: Program;
  readonly model: Model;
  /** What was said until now. */
  readonly conversation: Conversation;
}

/** That the model has no such tool, and which it has. */
export function listNames(text: string, { tools }: ToolCatalog, own: string): string {
  const names = tools.map(({ name }) => name).filter((name) => name !== own);
  const shown = names.slice(0, maxNames).map((name) => `\`${name}\``);
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${text}. The tools are ${[...shown, `\`${own}\``].join(', ')}${more}; names have to match exactly.`;
}

const maxNames = 100;

/** What came of asking a model for one message of a loop. */
export type Reply =
  | (Extract<MessageReading, { readonly type: 'message' }> & {
      /** It took more of the budget than there was. */
      readonly overspent: boolean;
      readonly error?: undefined;
    })
  | { readonly type: 'ended'; readonly error?: undefined }
  | { readonly type: 'failed'; readonly error: HoldfastError };

export interface Question {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
}

/** A longer message is a failure, and is not read to its end. */
const maxCharacters = 1_000_000;

/** Asks for one message, and counts it. Whatever the model does is a reply. */
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

/** How a run ends with a reply that is no message. */
export function endOf(reply: Exclude<Reply, { readonly type: 'message' }>, run: ReactRun): LoopEnd<never> {
  return reply.type === 'ended' ? stopped(run) : { type: 'unanswered', reason: 'failed', error: reply.error };
}

/** How often one question is made shorter. */
const maxShortenings = 3;

/**
 * Asks again with less where what was asked with was too long: `shorten` leaves the oldest round out, and says whether there was one.
 * What stays too long fails with `modules.context_overflow`.
 *
 * Source: three attempts, DSPy `dspy/predict/react.py`; there the last of them ends without an answer and without an error.
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
  const tried = leftOut === 0 ? 'there was nothing to leave out' : `the ${leftOut} oldest rounds were left out`;
  return new HoldfastError(
    'modules.context_overflow',
    `What the model was asked with is too long for it, and ${tried}. Let tools return less, or use a model that reads more.`,
    { data: { leftOut }, cause },
  );
}
