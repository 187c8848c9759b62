import {
  HoldfastError,
  isHoldfastError,
  type JsonObject,
  type Message,
  type Model,
  type ModelUsage,
  type Outcome,
  type PendingApproval,
  type ToolDeclaration,
} from '@holdfast/core';
import { type MessageReading, readMessage } from '@holdfast/executor';
import type { LoopCaller } from '../loop/caller.ts';
import type { NamedCall } from '../loop/calls.ts';
import type { LoopCall, Stop } from '../loop/result.ts';
import type { Toolset } from '../loop/toolset.ts';
import { modelFailed, withheld } from '../predict/ask.ts';
import type { Program } from '../signature/program.ts';
import type { Conversation } from './conversation.ts';

/** How far a loop has come. JSON. */
export interface Course {
  /** Rounds, without the last request for an answer. */
  iterations: number;
  /** How often the model was asked. */
  requests: number;
  usage: ModelUsage;
  readonly calls: LoopCall[];
  /** What the last answer had of the outputs, where it was not taken. */
  partial: JsonObject;
}

export function newCourse(): Course {
  return { iterations: 0, requests: 0, usage: { inputTokens: 0, outputTokens: 0 }, calls: [], partial: {} };
}

/** What one run of a loop works with. */
export interface ReactRun {
  readonly program: Program;
  readonly model: Model;
  readonly toolset: Toolset;
  readonly loop: LoopCaller;
  readonly course: Course;
  /** What was said until now. */
  readonly conversation: Conversation;
  readonly maxIterations: number;
  /** Of a run that is gone on with: how calls of the round have ended, by their ids in the session. */
  readonly earlier: ReadonlyMap<string, Outcome> | undefined;
  /** Records that the state is of no use any more; for a run that begins, nothing. */
  readonly noteResumed: () => void;
}

/** How a run ended. `turn`: what is known of the round that waits, as JSON; `waiting`: those of its calls that have not ended. */
export type ReactEnd =
  | {
      readonly type: 'answered';
      readonly reason: 'submit' | 'forced-submit';
      readonly output: unknown;
      readonly reasoning?: string;
    }
  | { readonly type: 'unanswered'; readonly reason: 'max-iterations' | 'failed'; readonly error: HoldfastError }
  | { readonly type: 'stopped'; readonly reason: Exclude<Stop, 'suspended'> }
  | {
      readonly type: 'suspended';
      readonly pending: readonly PendingApproval[];
      readonly waiting: readonly NamedCall[];
      readonly turn: JsonObject;
    };

export function addUsage(usage: ModelUsage, more: ModelUsage | undefined): ModelUsage {
  return {
    inputTokens: usage.inputTokens + (more?.inputTokens ?? 0),
    outputTokens: usage.outputTokens + (more?.outputTokens ?? 0),
  };
}

/** That the model has no such tool, and which it has. */
export function listNames(text: string, { tools }: Toolset, own: string): string {
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

export interface AskOptions {
  readonly model: Model;
  readonly loop: LoopCaller;
  readonly course: Course;
}

/** A longer message is a failure, and is not read to its end. */
const maxCharacters = 1_000_000;

/** Asks for one message, and counts it. Whatever the model does is a reply. */
export async function ask(
  { messages, tools }: Question,
  { model, loop: { caller, signal, deadline }, course }: AskOptions,
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
