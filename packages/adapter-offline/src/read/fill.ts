import type { Json } from '@holdfast/core';
import type { Clause } from '../words/clauses.ts';
import type { Parameter } from '../words/parameters.ts';
import type { ToolWords } from '../words/tool-words.ts';
import { findFreeText, findRun } from './free-text.ts';
import { findMentions, type Mention } from './mentions.ts';

/** The arguments that a clause contains for one tool. */
export interface Filling {
  readonly given: ReadonlyMap<Parameter, Json>;
  /** Required, but not in the clause. */
  readonly missing: readonly Parameter[];
  /** The tokens of the clause that became arguments or name one. */
  readonly used: ReadonlySet<number>;
  /** The number of arguments given by name or as an allowed value. */
  readonly named: number;
}

/**
 * Finds the arguments of a tool in a clause. A mention counts if its argument is named beside it, or if both can only
 * be each other; ambiguous mentions stay open. `head` are the tokens of the verb.
 */
export function fill(clause: Clause, tool: ToolWords, head: ReadonlySet<number>): Filling {
  const { parameters } = tool;
  const state: State = { parameters, given: new Map(), used: new Set(), named: 0 };
  const mentions = [...findFreeText(clause, tool), ...findMentions(clause.tokens, tool)];
  for (const by of ['name', 'word', 'side', 'looks']) settle(state, (mention) => mention.by === by, mentions);
  const open = parameters.filter((parameter) => !state.given.has(parameter));
  settle(state, () => true, findRun(clause, tool, open, new Set([...state.used, ...head])));
  for (const parameter of parameters) {
    const [only, another] = parameter.choices;
    // A constant needs no value from the clause.
    const isOpen = parameter.isRequired && !state.given.has(parameter);
    if (isOpen && only !== undefined && another === undefined) state.given.set(parameter, only);
  }
  return { ...state, missing: parameters.filter((parameter) => parameter.isRequired && !state.given.has(parameter)) };
}

interface State {
  readonly parameters: readonly Parameter[];
  readonly given: Map<Parameter, Json>;
  readonly used: Set<number>;
  named: number;
}

/** Assigns unambiguous mentions until none is left. */
function settle(state: State, isNow: (mention: Mention) => boolean, mentions: readonly Mention[]): void {
  const isOpen = ({ parameter, from, to }: Mention): boolean =>
    !state.given.has(parameter) && !range(from, to).some((at) => state.used.has(at));
  for (let next: readonly Mention[] | undefined = []; next !== undefined; ) {
    give(next, state);
    const open = mentions.filter((mention) => isNow(mention) && isOpen(mention));
    const isClear = (own: readonly Mention[]): boolean =>
      (isOne(own) || own[0]?.parameter.isList === true) && !own.some((mention) => isContested(mention, open));
    next = state.parameters.map((parameter) => open.filter((mention) => mention.parameter === parameter)).find(isClear);
  }
}

function isOne(mentions: readonly Mention[]): boolean {
  return new Set(mentions.map(({ from, to }) => `${from} ${to}`)).size === 1;
}

/** True if another open argument could be this mention and nothing else. Required arguments come first. */
function isContested({ parameter, from, to }: Mention, open: readonly Mention[]): boolean {
  return open.some((other) => {
    if (other.parameter === parameter || other.to <= from || other.from >= to) return false;
    if (parameter.isRequired !== other.parameter.isRequired) return other.parameter.isRequired;
    return isOne(open.filter((each) => each.parameter === other.parameter));
  });
}

function give(mentions: readonly Mention[], state: State): void {
  const [first] = mentions;
  if (first === undefined) return;
  const { parameter, value, by } = first;
  if (by !== 'looks' && by !== 'rest') state.named += 1;
  state.given.set(parameter, parameter.isList ? [...new Set(mentions.map((mention) => mention.value))] : value);
  for (const { from, to, name = [0, 0] } of mentions) {
    for (const at of [...range(from, to), ...range(name[0], name[1])]) state.used.add(at);
  }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
