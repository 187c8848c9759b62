import { HoldfastError } from '@holdfast/core';

/** Searches single lines. */
export interface LinePattern {
  /** A longer line is searched in its first characters only. */
  readonly maxLineLength: number;
  /** Where the first match begins; -1 for none. */
  find(line: string): number;
}

const maxLength = 200;
const maxChoices = 4;
// JavaScript's matcher backtracks: `n` open repetitions take up to length^(n+1) steps, and each choice may double them. By number
// of repetitions, a length with which the worst expression found by random search takes a few seconds, and usual ones no time.
const maxLineLengths = [2000, 2000, 500, 150];

/** A pattern that finds `text` as it is. @throws HoldfastError `grep.pattern_invalid` when it has several lines. */
export function textPattern(text: string, ignoreCase: boolean): LinePattern {
  checkOneLine(text);
  const wanted = ignoreCase ? text.toLowerCase() : text;
  return {
    maxLineLength: Number.POSITIVE_INFINITY,
    find: (line) => (ignoreCase ? line.toLowerCase() : line).indexOf(wanted),
  };
}

/**
 * A regular expression that cannot take for ever, for it comes from a model: at most 200 characters, no group that is repeated and
 * has a choice or repetition in it, no back reference, at most 3 repetitions and 4 choices.
 *
 * @throws HoldfastError `grep.pattern_invalid`, `grep.pattern_unsafe`.
 */
export function regularExpression(source: string, ignoreCase: boolean): LinePattern {
  checkOneLine(source);
  // No expression at all, so that lines of any length can be searched.
  if (!/[\\^$.*+?()[\]{}|]/u.test(source)) return textPattern(source, ignoreCase);
  if (source.length > maxLength) throw unsafe(source, `is longer than ${maxLength} characters`);
  let expression: RegExp;
  try {
    expression = new RegExp(source, ignoreCase ? 'iu' : 'u');
  } catch (cause) {
    throw new HoldfastError(
      'grep.pattern_invalid',
      `\`${source}\` is no regular expression: ${readReason(cause)}. Set \`literal\` to search for it as plain text.`,
      { data: { pattern: source }, cause },
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
    'grep.pattern_invalid',
    'Lines are searched one by one, so a pattern with a line break finds nothing. Search for one of the lines.',
    { data: { pattern: source } },
  );
}

/** What the engine says after the expression, which it repeats. */
function readReason(cause: unknown): string {
  return (String(cause).split(': ').at(-1) ?? '').toLowerCase();
}

interface Group {
  /** Whether there is more than one way through it. */
  varies: boolean;
}

const token = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|<\w+>))?|\)|\||[*+?]|\{\d+(?:,\d*)?\}/gsu;

/** Walks over a valid expression and refuses what can take exponentially long. */
function countRepetitions(source: string): number {
  const top: Group = { varies: false };
  const open: Group[] = [];
  let closed: Group | undefined;
  let afterQuantifier = false;
  let repetitions = 0;
  let choices = 0;
  let end = 0;
  for (const { 0: part, index } of source.matchAll(token)) {
    // Ordinary characters in between: what follows is about the last one.
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
        throw unsafe(source, 'repeats a group that has a repetition or a choice in it');
      }
      if (once) choices += 1;
      else if (!/^\{\d+\}$/u.test(part)) repetitions += 1;
      if (once || !/^\{\d+\}$/u.test(part)) group.varies = true;
      afterQuantifier = true;
    }
    closed = undefined;
  }
  if (choices > maxChoices) throw unsafe(source, `has more than ${maxChoices} choices`);
  return repetitions;
}

function unsafe(source: string, reason: string): HoldfastError {
  return new HoldfastError(
    'grep.pattern_unsafe',
    `The pattern \`${source.slice(0, maxLength)}\` ${reason}, which could take very long. Use a simpler one, or set \`literal\`.`,
    { data: { pattern: source.slice(0, maxLength) } },
  );
}
