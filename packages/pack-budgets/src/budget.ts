import {
  allow,
  type Decision,
  definePolicy,
  deny,
  HoldfastError,
  type Json,
  type KeyedState,
  type Policy,
  type PreparedCall,
  replace,
  upsert,
} from '@holdfast/core';
import * as v from 'valibot';
import { type Amount, formatAmount, readAmount } from './amount.ts';
import type { Measure } from './measure.ts';

export interface BudgetOptions {
  readonly id: string;
  /** The budgeted unit, for messages. */
  readonly what: string;
  readonly limit: Amount;
  /** The expected form of an amount, for messages. */
  readonly expected: string;
  /** Tools that must exist. */
  readonly tools: readonly string[];
  /** `undefined` if calls of the tool cost nothing. */
  readonly measureOf: (toolName: string) => Measure | undefined;
  /** True if the cost of a call is released when it fails before its commit. */
  readonly undone: boolean;
}

/**
 * Denies calls that would use more than is left, counts the cost of successes, and keeps the reservations of calls in doubt.
 *
 * State: keyed, amounts in plain digits: `spent`; `over`, the part of it that exceeded estimates; `doubt <call key>`.
 */
export function budget({
  id,
  what,
  limit,
  expected,
  tools,
  measureOf,
  undone,
}: BudgetOptions): Policy<KeyedState<string>> {
  // Calls let through although too little is left. They live as long as the call, so they are not state.
  const overruled = new WeakSet<PreparedCall>();

  const judge = ({ tool, input }: PreparedCall, state: KeyedState<string>): Decision => {
    const measure = measureOf(tool.name);
    if (measure === undefined) return allow;
    const estimate = measure.estimate(input);
    if (estimate === undefined) return deny(describeOdd(tool.name, expected, measure.told?.(input)));
    if (estimate === 0n) return allow;
    const book = readBook(state);
    if (book.spent + book.doubt + estimate <= limit) return allow;
    return deny(describeShort({ tool: tool.name, what, limit, estimate }, book));
  };

  return definePolicy<string>({
    name: 'budget',
    id,
    mentions: tools,
    stateKind: 'keyed',
    stateSchema: v.pipe(v.string(), v.check(isAmount, 'must be an amount')),
    check(call, { state }) {
      const decision = judge(call, state);
      if (decision.type === 'deny') overruled.add(call);
      return decision;
    },
    onResult(call, { value }, { state }) {
      const { tool, input } = call;
      const measure = measureOf(tool.name);
      if (measure === undefined) return undefined;
      const estimate = measure.estimate(input);
      const actual = measure.actual?.(value, input) ?? estimate ?? 0n;
      if (actual === 0n) return undefined;
      const book = readBook(state);
      if (undone && tool.effects !== 'external' && book.spent + book.doubt + actual > limit && !overruled.has(call)) {
        throw tooMuch({ tool: tool.name, what, limit, estimate: actual }, book);
      }
      const over = estimate === undefined || actual <= estimate ? 0n : actual - estimate;
      return replace({
        ...state.toObject(),
        spent: formatAmount(book.spent + actual),
        ...(over === 0n ? {} : { over: formatAmount(book.over + over) }),
      });
    },
    reserve(call, { state, callKey }) {
      const { tool, input } = call;
      const estimate = measureOf(tool.name)?.estimate(input);
      if (estimate === undefined || estimate === 0n) return undefined;
      const book = readBook(state);
      // Counts calls that have started since `check`.
      if (book.spent + book.doubt + estimate > limit && !overruled.has(call)) {
        throw tooMuch({ tool: tool.name, what, limit, estimate }, book);
      }
      // A host may reuse a call id.
      const key = `${doubtPrefix}${callKey}`;
      return upsert(key, formatAmount((readAmount(state.get(key)) ?? 0n) + estimate));
    },
  });
}

const doubtPrefix = 'doubt ';

interface Book {
  readonly spent: Amount;
  readonly over: Amount;
  readonly doubt: Amount;
}

/** @throws HoldfastError for an invalid state, whose remaining amount is unknown. */
function readBook(state: KeyedState<string>): Book {
  const book = { spent: 0n, over: 0n, doubt: 0n };
  for (const [key, text] of state) {
    const amount = readAmount(text);
    if (amount === undefined)
      throw new HoldfastError('policy.denied', `The state of a budget has an invalid amount at \`${key}\`.`);
    if (key.startsWith(doubtPrefix)) book.doubt += amount;
    else if (key === 'spent' || key === 'over') book[key] = amount;
  }
  return book;
}

function isAmount(text: string): boolean {
  return readAmount(text) !== undefined;
}

function tooMuch(short: Short, book: Book): HoldfastError {
  const data = { tool: short.tool, budget: short.what };
  return new HoldfastError('policy.denied', describeShort(short, book), { data });
}

interface Short {
  readonly tool: string;
  readonly what: string;
  readonly limit: Amount;
  readonly estimate: Amount;
}

function describeShort({ tool, what, limit, estimate }: Short, { spent, over, doubt }: Book): string {
  const used = spent + doubt;
  const left = used > limit ? 0n : limit - used;
  const held =
    doubt === 0n ? '' : ` ${formatAmount(doubt)} is held for calls that are under way, or may have taken effect.`;
  const more = over === 0n ? '' : ` Calls have taken ${formatAmount(over)} more than they had said.`;
  return `The budget of ${what} has ${formatAmount(left)} of ${formatAmount(limit)} left, and \`${tool}\` takes ${formatAmount(estimate)}.${held}${more}`;
}

function describeOdd(
  tool: string,
  expected: string,
  told: ReturnType<NonNullable<Measure['told']>> | undefined,
): string {
  const where = told === undefined ? 'what it takes' : `\`${told.place}\``;
  return `\`${tool}\` says in ${where} what it takes, which must be ${expected}, got ${describeFound(told?.found)}.`;
}

function describeFound(found: Json | undefined): string {
  return found === undefined ? 'nothing' : `\`${JSON.stringify(found).slice(0, 100)}\``;
}
