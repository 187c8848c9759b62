import type { Message, Model, ModelEvent } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';

type ToolMessage = Extract<Message, { readonly role: 'tool' }>;

/** Limits per result. The session log has the whole result. */
const mostLines = 60;
const mostCharacters = 6_000;

/**
 * Wraps a model that only makes calls. After tool results, the turn ends with a text that rules make from them, because the model is
 * too small to phrase an answer. Structured answers (`output`) are left to the model.
 */
export function printResults(model: Model): Model {
  return {
    ...model,
    stream(request) {
      const results = findLastResults(request.messages);
      if (results.length === 0 || request.output !== undefined) return model.stream(request);
      return answer(describeResults(results));
    },
  };
}

async function* answer(text: string): AsyncGenerator<ModelEvent> {
  yield { type: 'text-delta', text };
  yield { type: 'finish', reason: 'stop' };
}

function findLastResults(messages: readonly Message[]): readonly ToolMessage[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(before + 1).filter((message) => message.role === 'tool');
}

/** Formats tool results for people: text unchanged, JSON as lines. Adds nothing. */
export function describeResults(results: readonly ToolMessage[]): string {
  return results.map((result) => describeResult(result, results.length > 1)).join('\n\n');
}

function describeResult({ name, success, text }: ToolMessage, isNamed: boolean): string {
  const shown = shorten(toLines(text).join('\n').trim());
  if (!success) return `\`${name}\` failed: ${shown === '' ? 'no reason given' : shown}`;
  if (shown === '') return `\`${name}\` succeeded without output.`;
  return isNamed ? `\`${name}\`:\n${shown}` : shown;
}

/** A tool may return a sentence and, after a blank line, its value. */
function toLines(text: string): readonly string[] {
  const whole = parseJson(text);
  // Keeps the digits of numbers unchanged.
  if (whole.ok) return typeof whole.value === 'number' ? [text] : linesOf(whole.value);
  const gap = text.indexOf('\n\n');
  const value = gap < 0 ? whole : parseJson(text.slice(gap + 2));
  return value.ok ? [text.slice(0, gap), ...linesOf(value.value)] : [text];
}

function linesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.length === 0 ? ['(none)'] : value.flatMap((item) => listed(item));
  if (!isPlainObject(value)) return [toWord(value)];
  return Object.entries(value).flatMap(([key, item]) => {
    const isFlat = typeof item !== 'object' || item === null;
    return isFlat ? [`${key}: ${toWord(item)}`] : [`${key}:`, ...linesOf(item).map((line) => `  ${line}`)];
  });
}

function listed(item: unknown): readonly string[] {
  const isRow = isPlainObject(item) && Object.values(item).every((each) => typeof each !== 'object' || each === null);
  const [first = '', ...rest] = isRow ? [linesOf(item).join(', ')] : linesOf(item);
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
}

function toWord(value: unknown): string {
  return value === null ? '' : String(value);
}

function shorten(text: string): string {
  const lines = text.split('\n');
  const fitting = lines.slice(0, mostLines).join('\n').slice(0, mostCharacters).toWellFormed();
  if (fitting.length === text.length) return text;
  return `${fitting}\n… ${text.length - fitting.length} more characters`;
}
