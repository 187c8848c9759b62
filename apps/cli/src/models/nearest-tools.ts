import type { Message, ToolDeclaration } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

/**
 * At most `most` of the tools, in their original order: those already called, then those whose name, description or parameters share
 * words with the last request; rare words count more.
 */
export function nearestTools(
  tools: readonly ToolDeclaration[],
  messages: readonly Message[],
  most: number,
): readonly ToolDeclaration[] {
  if (tools.length <= most) return tools;
  const request = toWords(messages.findLast(({ role }) => role === 'user')?.text ?? '');
  const called = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.name] : [])));
  const known = tools.map((tool) => ({ name: toWords(tool.name), words: toWords(describe(tool)) }));
  const scores = tools.map((tool) => (called.has(tool.name) ? Number.POSITIVE_INFINITY : 0));
  for (const word of request) {
    const weights = known.map(({ name, words }) => (has(name, word) ? nameWeight : 0) + (has(words, word) ? 1 : 0));
    const count = weights.filter((weight) => weight > 0).length;
    for (const [index, weight] of weights.entries()) {
      if (weight > 0) scores[index] = (scores[index] ?? 0) + weight / count;
    }
  }
  const scored = tools.map((tool, index) => ({ tool, score: scores[index] ?? 0 }));
  // The sort is stable.
  const nearest = new Set(
    scored
      .toSorted((one, other) => (one.score === other.score ? 0 : other.score - one.score))
      .slice(0, most)
      .map(({ tool }) => tool),
  );
  return tools.filter((tool) => nearest.has(tool));
}

/** A name says what a tool is for; a description may mention anything. */
const nameWeight = 2;

function describe({ description, inputSchema }: ToolDeclaration): string {
  const properties = isPlainObject(inputSchema['properties']) ? Object.keys(inputSchema['properties']) : [];
  return [description, ...properties].join(' ');
}

const tooCommon: ReadonlySet<string> = new Set([
  'the',
  'and',
  'for',
  'with',
  'that',
  'this',
  'what',
  'which',
  'all',
  'one',
  'from',
  'into',
]);

/** Limits per text: the model has no room for more, and each word is compared with those of all tools. */
const mostWords = 100;
const mostCharacters = 4000;

/** Splits `readFile` and `read_file`, too. */
function toWords(text: string): readonly string[] {
  const words =
    text
      .slice(0, mostCharacters)
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/\p{L}{3,}/gu) ?? [];
  return [...new Set(words)].filter((word) => !tooCommon.has(word)).slice(0, mostWords);
}

function has(words: readonly string[], word: string): boolean {
  return words.some((other) => isSame(word, other));
}

/** Matches `file` and `files`, `delete` and `deleting`: a common prefix with little after it. */
function isSame(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  const common = length < 5 ? length : length - 1;
  return one.slice(0, common) === other.slice(0, common) && Math.abs(one.length - other.length) <= 3;
}
