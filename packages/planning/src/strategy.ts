import { HoldfastError } from '@holdfast/core';

/** How a model is asked to plan. All strategies have the same tools and rules; only their guidance differs. */
export interface Strategy {
  readonly name: string;
  /** Lines that stand between the rules and the last line of the section. */
  readonly guidance: readonly string[];
}

const namePattern = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Declares a strategy. `name` matches `^[a-z][a-z0-9_]{0,63}$`; each line of `guidance` is plain text, trimmed, also a `$` in it.
 *
 * @throws HoldfastError `planning.strategy_invalid` for a bad name, and a line that is empty or more than one.
 */
export function defineStrategy({ name, guidance }: Strategy): Strategy {
  if (!namePattern.test(name)) {
    throw new HoldfastError(
      'planning.strategy_invalid',
      `The name \`${name}\` of a strategy must match ${namePattern.source}.`,
    );
  }
  const lines = guidance.map((line) => line.trim());
  const wrong = lines.findIndex((line) => line === '' || /[\r\n]/.test(line));
  if (wrong >= 0) {
    throw new HoldfastError(
      'planning.strategy_invalid',
      `\`guidance[${wrong}]\` of the strategy \`${name}\` must be one line of text: give each line as an item.`,
      { data: { strategy: name, index: wrong } },
    );
  }
  return Object.freeze({ name, guidance: Object.freeze(lines) });
}

/** Reason, act, look, and so on. */
export const react: Strategy = defineStrategy({
  name: 'react',
  guidance: [
    'Alternate reasoning, tool calls and observations: say what you need, call a tool, and go on from what it answers.',
  ],
});

/** The whole plan first; after each step a look back at it. */
export const planActReflect: Strategy = defineStrategy({
  name: 'plan_act_reflect',
  guidance: [
    'Plan the whole work before you act, then do one step at a time.',
    'After each step hold its result against the objective; where the plan no longer fits, change it before you go on.',
  ],
});

/** The goal in parts, each part to what is best at it, the parts put together at the end. */
export const goalDecomposeRouteSynthesise: Strategy = defineStrategy({
  name: 'goal_decompose_route_synthesise',
  guidance: [
    'Restate the goal in your own words, then take it apart: one step for each part that can be done and checked by itself.',
    'For each part choose the tool that fits it best, and name that tool in the title of its step.',
    'Let the last step put the results of the parts together and check the whole against the goal.',
  ],
});
