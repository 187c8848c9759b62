import type { HoldfastError, JsonObject, Model, ModelUsage, Outcome, PendingApproval } from '@holdfast/core';
import type { LoopCaller } from './loop-caller.ts';
import type { NamedCall } from './loop-calls.ts';
import type { Stop } from './loop-problem.ts';
import type { Program } from './program.ts';
import type { Conversation } from './react-conversation.ts';
import type { LoopCall } from './tool-loop-result.ts';
import type { Toolset } from './toolset.ts';

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
