import { type FeedbackProvider, HoldfastError } from '@holdfast/core';
import { freezeOpen } from '@holdfast/core/internal';
import type { FeedbackTrigger } from '@holdfast/core/types';

/** Every `count` calls of the prompt, with any outcome. @throws HoldfastError `prompt.invalid`. */
export function everyCalls(count: number): FeedbackTrigger {
  return checked({ type: 'calls', every: count });
}

/** Every `seconds`, looked at when the calls of a turn have ended. @throws HoldfastError `prompt.invalid`. */
export function everySeconds(seconds: number): FeedbackTrigger {
  return checked({ type: 'seconds', every: seconds });
}

/** Once, when the file is there; again only after the session was reset. @throws HoldfastError `prompt.invalid`. */
export function fileCreated(path: string): FeedbackTrigger {
  return checked({ type: 'file-created', path });
}

export interface StaticFeedbackOptions {
  /** Lower case words joined by `-`; one of its kind in a prompt. */
  readonly name: string;
  readonly text: string;
  /** Any of them. */
  readonly triggers: readonly FeedbackTrigger[];
}

/**
 * Tells the model the same text each time that a trigger fires.
 *
 * @throws HoldfastError `prompt.invalid`.
 */
export function staticFeedback({ name, text, triggers }: StaticFeedbackOptions): FeedbackProvider {
  const told: unknown = text;
  if (typeof told !== 'string' || told.trim() === '') {
    throw invalid(name, '`text` must not be empty.');
  }
  return toProvider(name, triggers, () => text.trim());
}

export interface DeadlineFeedbackOptions {
  /** Default `deadline`. */
  readonly name?: string;
  /** Any of them. */
  readonly triggers: readonly FeedbackTrigger[];
  /** From this many milliseconds before the end on, the model is told to finish. Default 120,000. */
  readonly urgentMs?: number;
}

/**
 * Tells the model how much time is left; nothing without a deadline.
 *
 * @throws HoldfastError `prompt.invalid`.
 */
export function deadlineFeedback({
  name = 'deadline',
  triggers,
  urgentMs = 120_000,
}: DeadlineFeedbackOptions): FeedbackProvider {
  if (typeof urgentMs !== 'number' || !(urgentMs >= 0)) {
    throw invalid(name, `\`urgentMs\` must be a number from 0 on, got ${String(urgentMs)}.`);
  }
  return toProvider(name, triggers, ({ deadline }) => {
    if (!Number.isFinite(deadline.atMs)) return undefined;
    const leftMs = deadline.remainingMs();
    const left = `You have ${describeDuration(leftMs)} left.`;
    return leftMs <= urgentMs ? `${left} Finish what you are doing and give your answer.` : left;
  });
}

/**
 * Copies the feedback providers of a prompt: later changes to them do not reach it.
 *
 * @throws HoldfastError `prompt.invalid` for an invalid or duplicate name, and for an invalid trigger.
 */
export function takeFeedback(providers: readonly FeedbackProvider[]): readonly FeedbackProvider[] {
  const names = new Set<string>();
  const copied = providers.map((provider) => {
    checkProvider(provider);
    if (names.has(provider.name)) throw invalid(provider.name, 'the name is used twice in the prompt; rename one.');
    names.add(provider.name);
    // Called as a method: it may be a class instance.
    return toProvider(provider.name, provider.triggers, (context) => provider.provide(context));
  });
  return Object.freeze(copied);
}

function toProvider(
  name: string,
  triggers: readonly FeedbackTrigger[],
  provide: FeedbackProvider['provide'],
): FeedbackProvider {
  checkProvider({ name, triggers, provide });
  return Object.freeze({ name, triggers: freezeOpen(triggers.map((trigger) => ({ ...trigger }))), provide });
}

const namePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** True if `name` is valid for a feedback provider or completion checker: lower case words joined by `-`, at most 64 characters. */
export function isGuidanceName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= 64 && namePattern.test(name);
}

function checkProvider({ name, triggers, provide }: FeedbackProvider): void {
  if (!isGuidanceName(name)) throw invalid(name, 'the name must be lower case words joined by `-`.');
  if (!Array.isArray(triggers)) throw invalid(name, '`triggers` must be a list.');
  for (const trigger of triggers) {
    const problem = findTriggerProblem(trigger);
    if (problem !== undefined) throw invalid(name, problem);
  }
  if (typeof provide !== 'function') throw invalid(name, '`provide` must be a function.');
}

function checked(trigger: FeedbackTrigger): FeedbackTrigger {
  const problem = findTriggerProblem(trigger);
  if (problem !== undefined)
    throw new HoldfastError('prompt.invalid', `A feedback trigger: ${problem}`, { data: { reason: 'feedback' } });
  return Object.freeze(trigger);
}

function findTriggerProblem(trigger: FeedbackTrigger): string | undefined {
  // Hosts without types may pass anything.
  switch (trigger?.type) {
    case 'calls':
      if (Number.isInteger(trigger.every) && trigger.every >= 1) return undefined;
      return `\`calls\` must be a positive integer, got ${String(trigger.every)}.`;
    case 'seconds':
      if (Number.isFinite(trigger.every) && trigger.every > 0) return undefined;
      return `\`seconds\` must be a positive number, got ${String(trigger.every)}.`;
    case 'file-created':
      if (typeof trigger.path === 'string' && trigger.path !== '') return undefined;
      return '`path` must name a file.';
    default:
      trigger satisfies never;
      return 'its type must be `calls`, `seconds` or `file-created`.';
  }
}

function invalid(name: unknown, problem: string): HoldfastError {
  return new HoldfastError('prompt.invalid', `The feedback provider \`${String(name)}\`: ${problem}`, {
    data: { reason: 'feedback', name: String(name) },
  });
}

/** Formats a duration in its two largest units, rounded down so as never to overstate it. */
function describeDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    { count: Math.floor(seconds / 3_600), unit: 'hour' },
    { count: Math.floor(seconds / 60) % 60, unit: 'minute' },
    { count: seconds % 60, unit: 'second' },
  ];
  const first = parts.findIndex(({ count }) => count > 0);
  if (first === -1) return 'less than a second';
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ count, unit }) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    .join(' ');
}
