import { HoldfastError } from '@holdfast/core';

/** Searches single lines. */
export interface LinePattern {
  /** Longer lines are searched only up to this length. */
  readonly maxLineLength: number;
  /** The offset of the first match; -1 for none. */
  find(line: string): number;
}

const maxLength = 200;
const maxChoices = 4;
// The matcher of JavaScript backtracks: `n` unbounded repetitions take up to length^(n+1) steps, and each alternative may double them. By
// number of repetitions: the length at which the worst expression found by random search takes a few seconds, and typical ones no
// noticeable time.
const maxLineLengths = [2000, 2000, 500, 150];

/** Finds `text` literally. @throws HoldfastError `pattern.invalid` for several lines. */
export function textPattern(text: string, ignoreCase: boolean): LinePattern {
  checkOneLine(text);
  const wanted = ignoreCase ? text.toLowerCase() : text;
  return {
    maxLineLength: Number.POSITIVE_INFINITY,
    find: (line) => (ignoreCase ? line.toLowerCase() : line).indexOf(wanted),
  };
}

/**
 * A regular expression from a model, restricted so that it cannot run forever: at most 200 characters, 3 repetitions and 4 alternatives, no
 * back reference, and no repeated group that contains a repetition or an alternative.
 *
 * @throws HoldfastError `pattern.invalid`.
 */
export function regularExpression(source: string, ignoreCase: boolean): LinePattern {
  checkOneLine(source);
  // Plain text, which can be searched in lines of any length.
  if (!/[\\^$.*+?()[\]{}|]/u.test(source)) return textPattern(source, ignoreCase);
  if (source.length > maxLength) throw unsafe(source, `is longer than ${maxLength} characters`);
  let expression: RegExp;
  try {
    expression = new RegExp(source, ignoreCase ? 'iu' : 'u');
  } catch (cause) {
    throw new HoldfastError(
      'pattern.invalid',
      `Invalid regular expression \`${source}\`: ${readReason(cause)}. Set \`literal\` to search for it as plain text.`,
      { data: { reason: 'syntax', pattern: source }, cause },
    );
  }
  const repetitions = countRepetitions(source);
  const maxLineLength = maxLineLengths[repetitions];
  if (maxLineLength === undefined) throw unsafe(source, `has more than ${maxLineLengths.length - 1} repetitions`);
  return { maxLineLength, find: (line) => line.search(expression) };
}

function checkOneLine(source: string): void {
  if (!source.includes('\n')) return;
  throw new HoldfastError(
    'pattern.invalid',
    'Lines are searched one at a time, so a pattern with a line break never matches. Search for one of the lines.',
    { data: { reason: 'syntax', pattern: source } },
  );
}

/** The engine's message without the repeated expression. */
function readReason(cause: unknown): string {
  return (String(cause).split(': ').at(-1) ?? '').toLowerCase();
}

interface Group {
  /** True if it can match in more than one way. */
  varies: boolean;
}

const token = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|<\w+>))?|\)|\||[*+?]|\{\d+(?:,\d*)?\}/gsu;

/** Walks over a valid expression and rejects anything that can take exponential time. */
function countRepetitions(source: string): number {
  const top: Group = { varies: false };
  const open: Group[] = [];
  let closed: Group | undefined;
  let afterQuantifier = false;
  let repetitions = 0;
  let choices = 0;
  let end = 0;
  for (const { 0: part, index } of source.matchAll(token)) {
    // Ordinary characters in between: a quantifier applies to the last one.
    if (index > end) {
      closed = undefined;
      afterQuantifier = false;
    }
    end = index + part.length;
    const group = open.at(-1) ?? top;
    const lazy = part === '?' && afterQuantifier;
    afterQuantifier = false;
    if (lazy) continue;
    if (/^\\[1-9k]/u.test(part)) throw unsafe(source, 'has a back reference');
    if (part.startsWith('(')) {
      open.push({ varies: false });
    } else if (part === ')') {
      closed = open.pop();
      if (closed?.varies === true) (open.at(-1) ?? top).varies = true;
      continue;
    } else if (part === '|') {
      if (open.length > 0 && !group.varies) choices += 1;
      group.varies = true;
    } else if (/^[*+?{]/u.test(part)) {
      const once = part === '?';
      if (!once && closed?.varies === true) {
        throw unsafe(source, 'repeats a group that contains a repetition or an alternative');
      }
      if (once) choices += 1;
      else if (!/^\{\d+\}$/u.test(part)) repetitions += 1;
      if (once || !/^\{\d+\}$/u.test(part)) group.varies = true;
      afterQuantifier = true;
    }
    closed = undefined;
  }
  if (choices > maxChoices) throw unsafe(source, `has more than ${maxChoices} alternatives`);
  return repetitions;
}

function unsafe(source: string, reason: string): HoldfastError {
  return new HoldfastError(
    'pattern.invalid',
    `The pattern \`${source.slice(0, maxLength)}\` ${reason}, which could take very long. Use a simpler pattern, or set \`literal\`.`,
    { data: { reason: 'unsafe', pattern: source.slice(0, maxLength) } },
  );
}
