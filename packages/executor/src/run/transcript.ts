import type { CutReason, FinishReason, Message, ModelUsage, Outcome } from '@holdfast/core';
import type { BudgetAccount } from '../call/execute.ts';
import type { IdentifiedCall } from '../call/types.ts';

/** What was said in a run so far. */
export interface Transcript {
  /** Without the system's. */
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly text: string;
  readonly usage: ModelUsage;
  /** Of the calls of all turns but the open one. */
  readonly outcomes: readonly Outcome[];
  /** How often the model was sent back to work, and told what its output lacked. */
  readonly returns: number;
  readonly corrections: number;
  readonly startedAtMs: number | undefined;
  /** The last message of the model, to which nobody has answered yet, or not to all of its calls. */
  readonly open?: OpenTurn;
}

export interface OpenTurn {
  readonly turn: number;
  readonly text: string;
  readonly calls: readonly IdentifiedCall[];
  readonly reason: FinishReason | CutReason;
  /** By the place of the call, of those that have ended. */
  readonly settled: ReadonlyMap<number, Outcome>;
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0 };

/** The transcript of a run that begins. */
export function newTranscript(input: string): Transcript {
  return { ...nothingSaid, messages: [{ role: 'user', text: input }], outcomes: [] };
}

/** Of a run that begins. */
export const nothingSaid: Omit<Transcript, 'messages' | 'outcomes' | 'open'> = {
  turns: 0,
  text: '',
  usage: noUsage,
  returns: 0,
  corrections: 0,
  startedAtMs: undefined,
};

export function addUsage(usage: ModelUsage, more: ModelUsage | undefined): ModelUsage {
  if (more === undefined) return usage;
  return {
    inputTokens: usage.inputTokens + more.inputTokens,
    outputTokens: usage.outputTokens + more.outputTokens,
  };
}

/** Whether nothing remains of what a model request needs. */
export function isExhausted(budgets: readonly BudgetAccount[]): boolean {
  return budgets.some(({ exhausted }) => exhausted);
}

/** Spends what a message took. Whether that was more than there was. */
export function spendTokens(usage: ModelUsage | undefined, budgets: readonly BudgetAccount[]): boolean {
  if (usage !== undefined) for (const budget of budgets) budget.addTokens(usage.inputTokens + usage.outputTokens);
  return budgets.some(({ overspent }) => overspent);
}
