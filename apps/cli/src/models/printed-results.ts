import { isPlainObject, type Message, type Model, type ModelEvent, parseJson } from '@holdfast/core';

type ToolMessage = Extract<Message, { readonly role: 'tool' }>;

/** Of one result. What a tool gave back stands whole in the session log. */
const mostLines = 60;
const mostCharacters = 6_000;

/**
 * A model that is asked for calls alone. After the results of tools the turn ends with a text that rules make of them: a model too
 * small for sentences never words a result. An answer of a given shape (`output`) stays the model's own.
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

/** What tools gave back, for a person: text as it is, JSON as lines. It says nothing that no result says. */
export function describeResults(results: readonly ToolMessage[]): string {
  return results.map((result) => describeResult(result, results.length > 1)).join('\n\n');
}

function describeResult({ name, success, text }: ToolMessage, isNamed: boolean): string {
  const shown = shorten(toLines(text).join('\n').trim());
  if (!success) return `\`${name}\` did not succeed: ${shown === '' ? 'it gave no reason' : shown}`;
  if (shown === '') return `\`${name}\` succeeded and gave nothing back.`;
  return isNamed ? `\`${name}\`:\n${shown}` : shown;
}

/** A tool may say a sentence, and give its value behind a blank line. */
function toLines(text: string): readonly string[] {
  const whole = parseJson(text);
  // A number is what its digits say, however many there are.
  if (whole.ok) return typeof whole.value === 'number' ? [text] : linesOf(whole.value);
  const gap = text.indexOf('\n\n');
  const value = gap < 0 ? whole : parseJson(text.slice(gap + 2));
  return value.ok ? [text.slice(0, gap), ...linesOf(value.value)] : [text];
}

function linesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.length === 0 ? ['nothing'] : value.flatMap((item) => listed(item));
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
