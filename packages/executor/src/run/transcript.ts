import type { FinishReason, Message, ModelUsage, Outcome } from '@holdfast/core';
import type { CutReason } from '@holdfast/core/types';
import type { BudgetAccount } from '../call/execute.ts';
import type { IdentifiedCall } from '../call/types.ts';

/** The conversation of a run so far. */
export interface Transcript {
  /** Without the system message. */
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly text: string;
  readonly usage: ModelUsage;
  /** Of the calls of all turns but the open one. */
  readonly outcomes: readonly Outcome[];
  /** How often the model was sent back to continue or to correct its output. */
  readonly returns: number;
  readonly corrections: number;
  readonly startedAtMs: number | undefined;
  /** The model's last message, if not all of its calls have been answered. */
  readonly open?: OpenTurn;
}

export interface OpenTurn {
  readonly turn: number;
  readonly text: string;
  readonly calls: readonly IdentifiedCall[];
  readonly reason: FinishReason | CutReason;
  /** Outcomes of finished calls, by position. */
  readonly settled: ReadonlyMap<number, Outcome>;
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0 };

/** For a new run. */
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

/** True if a budget has nothing left for a model request. */
export function isExhausted(budgets: readonly BudgetAccount[]): boolean {
  return budgets.some(({ exhausted }) => exhausted);
}

/** Charges a message to the budgets. True if it exceeded one. */
export function spendTokens(usage: ModelUsage | undefined, budgets: readonly BudgetAccount[]): boolean {
  if (usage !== undefined) for (const budget of budgets) budget.addTokens(usage.inputTokens + usage.outputTokens);
  return budgets.some(({ overspent }) => overspent);
}
