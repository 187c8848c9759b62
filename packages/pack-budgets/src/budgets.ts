import { definePack, type Pack, type Policy } from '@holdfast/core';
import { checkToolName } from '@holdfast/core/internal';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { readAmount, readWhole, wholeAmount } from './amount.ts';
import { type BudgetOptions, budget } from './budget.ts';
import { type Measure, measureOf, sizeMeasure, sizeOf, type Taking, valueAt } from './measure.ts';

/** What a tool writes. */
export interface Writing {
  /** The argument whose size counts, by dots. */
  readonly argument: string;
  /** Where the value of the result says how many bytes were written, by dots. Default: the size of the argument. */
  readonly result?: string | undefined;
}

/** The options of `budgets`. All of them are for one session. */
export interface BudgetsOptions {
  /** Calls that succeed or are in doubt. Default: as the preset says. */
  readonly maxCalls?: number | undefined;
  /** Bytes that calls write. Default: as the preset says. */
  readonly maxBytes?: number | undefined;
  /** Tools that write, beside `write_file` and `edit_file`. */
  readonly bytes?: Readonly<Record<string, Writing>> | undefined;
  /** Tokens that the tools named in `tokens` take. Default: no budget. */
  readonly maxTokens?: number | undefined;
  /** By the tool, where it stands how many tokens it takes. */
  readonly tokens?: Readonly<Record<string, Taking>> | undefined;
  /** Money that the tools named in `money` take, in any one currency; a text such as `"12.50"`, or a number. Default: no budget. */
  readonly maxMoney?: string | number | undefined;
  /** By the tool, where it stands how much it takes. */
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
 * Budgets of a session: calls, bytes written, and the tokens and the money of tools that the options name. A call is denied that would
 * take more than is left. A success counts with what its result says that it took; what calls in doubt may have taken is held; what
 * failed counts nothing.
 *
 * Of calls that ran at the same time, one that would go over the budget of calls or bytes is denied, or fails, before it is
 * committed, unless its tool touches the world. A budget of 0 lets nothing through.
 */
export const budgets: Pack<BudgetsOptions> = definePack<BudgetsOptions, BudgetsOptions>({
  name: 'budgets',
  version: manifest.version,
  description: 'Limits the calls of a session, the bytes they write, and the tokens and the money they take.',
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

/** Every place where the new text came to stand. */
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
    // Whoever asks says what is wrong, with the place in the options.
    return false;
  }
}
