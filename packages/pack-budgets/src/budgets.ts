import { definePack, type Pack, type Policy } from '@holdfast/core';
import { checkToolName } from '@holdfast/core/internal';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { readAmount, readWhole, wholeAmount } from './amount.ts';
import { type BudgetOptions, budget } from './budget.ts';
import { type Measure, measureOf, sizeMeasure, sizeOf, type Taking, valueAt } from './measure.ts';

/** How to measure the writes of a tool. */
export interface Writing {
  /** Path of the argument whose size counts, with dots. */
  readonly argument: string;
  /** Path of the written bytes in the result, with dots. Default: the size of the argument. */
  readonly result?: string | undefined;
}

/** The options of `budgets`. All limits are per session. */
export interface BudgetsOptions {
  /** Limit of calls that succeed or are in doubt. Default: the preset's. */
  readonly maxCalls?: number | undefined;
  /** Limit of bytes written. Default: the preset's. */
  readonly maxBytes?: number | undefined;
  /** Tools that write, besides `write_file` and `edit_file`. */
  readonly bytes?: Readonly<Record<string, Writing>> | undefined;
  /** Limit of tokens used by the tools in `tokens`. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /** By tool, how to measure its tokens. */
  readonly tokens?: Readonly<Record<string, Taking>> | undefined;
  /** Limit of money used by the tools in `money`, in one currency; text such as `"12.50"`, or a number. Default: no limit. */
  readonly maxMoney?: string | number | undefined;
  /** By tool, how to measure its cost. */
  readonly money?: Readonly<Record<string, Taking>> | undefined;
}

const count = v.pipe(v.number(), v.safeInteger('must be a whole number'), v.minValue(0));
const amount = v.pipe(
  v.union([v.string(), v.number()]),
  v.check(
    (given) => readAmount(given) !== undefined,
    'must be a number of at least 0, or one in plain digits such as "12.50"',
  ),
);
const path = v.pipe(
  v.string(),
  v.regex(/^[^.]{1,100}(?:\.[^.]{1,100}){0,9}$/, 'must name a field, with dots between names'),
);
const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));

const takings = (of: typeof count | typeof amount) => {
  const taking = v.pipe(
    v.strictObject({ amount: v.optional(of), argument: v.optional(path), result: v.optional(path) }),
    v.check(
      (given) => given.amount !== undefined || given.argument !== undefined,
      'needs an `amount` or an `argument`',
    ),
  );
  const named = v.pipe(
    v.record(toolName, taking),
    v.check((given) => Object.keys(given).length > 0, 'must name a tool'),
  );
  return v.optional(named);
};

const configSchema = v.pipe(
  v.strictObject({
    maxCalls: v.optional(count),
    maxBytes: v.optional(count),
    bytes: v.optional(v.record(toolName, v.strictObject({ argument: path, result: v.optional(path) }))),
    maxTokens: v.optional(count),
    tokens: takings(count),
    maxMoney: v.optional(amount),
    money: takings(amount),
  }),
  v.check(
    ({ maxTokens, tokens }) => (maxTokens === undefined) === (tokens === undefined),
    '`maxTokens` and `tokens` need each other',
  ),
  v.check(
    ({ maxMoney, money }) => (maxMoney === undefined) === (money === undefined),
    '`maxMoney` and `money` need each other',
  ),
  v.check(({ maxBytes, bytes }) => maxBytes !== undefined || bytes === undefined, '`bytes` needs `maxBytes`'),
);

/**
 * Session budgets for calls, written bytes, and the tokens and money of the tools named in the options. Denies calls that would use more
 * than is left. A success counts the amount in its result; calls in doubt keep their reservation; failed calls count nothing.
 *
 * Of concurrent calls, one that would exceed the budget of calls or bytes is denied or fails before its commit, unless its tool has
 * external effects. A budget of 0 denies all calls.
 */
export const budgets: Pack<BudgetsOptions> = definePack<BudgetsOptions, BudgetsOptions>({
  name: 'budgets',
  version: manifest.version,
  description: 'Limits the calls of a session, the bytes they write, and the tokens and money they use.',
  configSchema,
  presets: {
    recommended: {
      description: '1,000 calls, and 20 MB written.',
      config: { maxCalls: 1000, maxBytes: 20_000_000 },
    },
    strict: { description: '100 calls, and 1 MB written.', config: { maxCalls: 100, maxBytes: 1_000_000 } },
  },
  policies: (options) => [...calls(options), ...bytes(options), ...tokens(options), ...money(options)],
});

const oneCall: Measure = { estimate: () => wholeAmount(1) };

function calls({ maxCalls }: BudgetsOptions): readonly Policy[] {
  if (maxCalls === undefined) return [];
  const limit = wholeAmount(maxCalls);
  return [make({ id: 'calls', what: 'calls', limit, tools: [], undone: true, measureOf: () => oneCall })];
}

function bytes({ maxBytes, bytes: named = {} }: BudgetsOptions): readonly Policy[] {
  if (maxBytes === undefined) return [];
  const measures = new Map<string, Measure>([
    ['write_file', sizeMeasure('content')],
    ['edit_file', sizeMeasure('newText', editedSize)],
    ...Object.entries(named).map(([tool, { argument, result }]): [string, Measure] => [
      tool,
      sizeMeasure(argument, result === undefined ? undefined : (value) => readWhole(valueAt(value, result))),
    ]),
  ]);
  return [
    make({
      id: 'bytes',
      what: 'bytes to write',
      limit: wholeAmount(maxBytes),
      tools: Object.keys(named),
      undone: true,
      measureOf: (tool) => measures.get(tool),
    }),
  ];
}

/** Counts every replacement. */
const editedSize: Measure['actual'] = (value, input) => {
  const replacements = valueAt(value, 'replacements');
  const times = typeof replacements === 'number' && Number.isSafeInteger(replacements) ? Math.max(1, replacements) : 1;
  return sizeOf(valueAt(input, 'newText')) * BigInt(times);
};

function tokens({ maxTokens, tokens: named }: BudgetsOptions): readonly Policy[] {
  if (maxTokens === undefined || named === undefined) return [];
  const limit = wholeAmount(maxTokens);
  return [make({ id: 'tokens', what: 'tokens', limit, undone: false, ...takers(named, readWhole) })];
}

function money({ maxMoney, money: named }: BudgetsOptions): readonly Policy[] {
  const limit = readAmount(maxMoney);
  if (limit === undefined || named === undefined) return [];
  return [make({ id: 'money', what: 'money', limit, undone: false, ...takers(named, readAmount) })];
}

function takers(
  named: Readonly<Record<string, Taking>>,
  read: typeof readAmount,
): Pick<BudgetOptions, 'tools' | 'measureOf'> {
  const measures = new Map(Object.entries(named).map(([tool, taking]) => [tool, measureOf(taking, read)]));
  return { tools: [...measures.keys()], measureOf: (tool) => measures.get(tool) };
}

function make(options: Omit<BudgetOptions, 'expected'>): Policy {
  const expected =
    options.id === 'money'
      ? 'a number of at least 0, or one in plain digits such as "12.50"'
      : 'a whole number of at least 0';
  return budget({ ...options, expected });
}

function isToolName(name: string): boolean {
  try {
    checkToolName(name);
    return true;
  } catch {
    // The caller reports the problem with its position in the options.
    return false;
  }
}
