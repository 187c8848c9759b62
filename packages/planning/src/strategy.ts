import { HoldfastError } from '@holdfast/core';

/** Guidance on how a model should plan. All strategies share the same tools and rules. */
export interface Strategy {
  readonly name: string;
  /** Lines between the rules and the last line of the section. */
  readonly guidance: readonly string[];
}

const namePattern = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Declares a strategy. `name` matches `^[a-z][a-z0-9_]{0,63}$`; each line of `guidance` is trimmed plain text, in which `$` has no special
 * meaning.
 *
 * @throws HoldfastError `planning.invalid` for a bad name, and for an item that is empty or has several lines.
 */
export function defineStrategy({ name, guidance }: Strategy): Strategy {
  if (!namePattern.test(name)) {
    throw new HoldfastError('planning.invalid', `The strategy name \`${name}\` must match ${namePattern.source}.`, {
      data: { reason: 'strategy' },
    });
  }
  const lines = guidance.map((line) => line.trim());
  const wrong = lines.findIndex((line) => line === '' || /[\r\n]/.test(line));
  if (wrong >= 0) {
    throw new HoldfastError(
      'planning.invalid',
      `\`guidance[${wrong}]\` of the strategy \`${name}\` must be one line of text. Pass each line as its own item.`,
      { data: { reason: 'strategy', strategy: name, index: wrong } },
    );
  }
  return Object.freeze({ name, guidance: Object.freeze(lines) });
}

/** Alternates reasoning, action and observation. */
export const react: Strategy = defineStrategy({
  name: 'react',
  guidance: [
    'Alternate reasoning, tool calls and observations: say what you need, call a tool, and continue from its result.',
  ],
});

/** Plans everything first, and reviews the plan after each step. */
export const planActReflect: Strategy = defineStrategy({
  name: 'plan_act_reflect',
  guidance: [
    'Plan all of the work before you act, then do one step at a time.',
    'After each step, compare its result with the objective. If the plan no longer fits, change it before you continue.',
  ],
});

/** Splits the goal into parts, picks the best tool for each part, and combines the results. */
export const goalDecomposeRouteSynthesise: Strategy = defineStrategy({
  name: 'goal_decompose_route_synthesise',
  guidance: [
    'Restate the goal in your own words, then split it: one step for each part that can be done and checked on its own.',
    'For each part, choose the tool that fits best and name it in the title of the step.',
    'In the last step, combine the results and check them against the goal.',
  ],
});
