import type { JsonObject, Message, Model, ModelEvent, ModelRequest } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { askBack } from './answer/ask-back.ts';
import { fitOutput } from './answer/fit-output.ts';
import { composeAnswer, composeReport, shapeOf } from './answer/report.ts';
import { type Finding, toFinding } from './answer/results.ts';
import { type Unclear, type Understood, understand } from './read/understand.ts';
import { readTool, type ToolWords } from './words/tool-words.ts';
import { stemOf } from './words/words.ts';

/**
 * Creates a rule-based stand-in for a language model: no network, no weights, no memory, and the same answer to the same conversation. It
 * acts on the last user message if one offered tool accounts for every word of it, with arguments that occur in it; "and write it to
 * FILE" saves the result. For any other request it explains why and suggests three requests that work.
 *
 * For an `output` schema it returns the properties that the result contains by name, or says which are missing. It does not act on
 * requests of more than 8,000 characters, or in a language other than English.
 */
export function offlineModel(): Model {
  return { id: 'offline:rules', stream: answerRequest };
}

/** The next step: a call, or the final answer with the result it is based on. */
type Step =
  | { readonly type: 'call'; readonly name: string; readonly arguments: JsonObject }
  | { readonly type: 'end'; readonly text: string; readonly found: Finding | undefined };

async function* answerRequest({ messages, tools, signal, output }: ModelRequest): AsyncIterable<ModelEvent> {
  signal.throwIfAborted();
  const asked = messages.findLastIndex((message, index) => isRequest(message, messages[index - 1]));
  const done = findingsIn(messages.slice(asked + 1));
  const known = tools.map(readTool);
  const understood = understand(messages[asked]?.text ?? '', known);
  const step = understood.type === 'unclear' ? ask(understood, known, done) : proceed(understood, done);
  yield step.type === 'call'
    ? { ...step, type: 'tool-call', id: `call-${done.length + 1}` }
    : { type: 'text-delta', text: output === undefined ? step.text : composeOutput(output, step.text, step.found) };
  yield { type: 'finish', reason: step.type === 'call' ? 'tool-calls' : 'stop' };
}

/** Calls a tool that lists files without arguments first, if there is one, so that suggestions name existing files. */
function ask(unclear: Unclear, tools: readonly ToolWords[], [listed]: readonly Finding[]): Step {
  const isLister = ({ verbs, objects, parameters }: ToolWords): boolean =>
    verbs.lead === 'list' && objects.includes(stemOf('file')) && parameters.every(({ isRequired }) => !isRequired);
  const name = unclear.clauses.length > 0 ? tools.find(isLister)?.tool.name : undefined;
  if (listed === undefined && name !== undefined) return { type: 'call', name, arguments: {} };
  const rows = listed?.success === true ? (shapeOf(listed.value).rows ?? []) : [];
  const paths = rows.map((row) => (isPlainObject(row) ? (row['path'] ?? row['file'] ?? row['name']) : row));
  const files = paths.filter((path) => typeof path === 'string').filter((path) => /^[^\s.]\S*\.\w+$/u.test(path));
  return { type: 'end', text: askBack(unclear, tools, files), found: undefined };
}

/** The call, then the write of its result. The result of a failed or partial call is not written. */
function proceed({ clause, match, save }: Understood, [found, written]: readonly Finding[]): Step {
  if (found === undefined) return { type: 'call', name: match.tool.tool.name, arguments: match.arguments };
  const answer = found.success ? composeAnswer(found, clause) : describeFailure(found);
  const end = (text: string): Step => ({ type: 'end', text, found: found.success ? found : undefined });
  if (save === undefined) return end(answer);
  if (!found.success) return end(`${answer}\n\n\`${save.path}\` was not written.`);
  if (found.isPart) return end(`${answer}\n\nThe result is incomplete, so \`${save.path}\` was not written.`);
  const report = composeReport(found, clause, save.path);
  if (written === undefined) return { type: 'call', name: save.name, arguments: save.arguments(report) };
  return end(
    `${answer}\n\n${written.success ? written.message || `Wrote \`${save.path}\`.` : describeFailure(written)}`,
  );
}

function describeFailure({ name, text }: Finding): string {
  return `\`${name}\` failed: ${text.slice(0, 4000)}`;
}

/** False for the executor's messages between turns and about an invalid output. */
function isRequest({ role, text }: Message, before: Message | undefined): boolean {
  return (
    role === 'user' && before?.role !== 'tool' && !text.startsWith('Your message does not match the required output')
  );
}

function composeOutput(schema: JsonObject, text: string, found: Finding | undefined): string {
  const fitted = fitOutput(schema, found);
  if (!Array.isArray(fitted)) return JSON.stringify(fitted);
  const lacking = fitted.map((name) => `\`${String(name).slice(0, 100)}\``).join(', ');
  return `I am a rule-based program and cannot produce the requested JSON: no tool result contains ${lacking}.\n\n${text}`;
}

/** The calls of a part of a conversation with their results, in the order of the results. */
function findingsIn(messages: readonly Message[]): readonly Finding[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const given = calls.find(({ id }) => id === message.callId)?.arguments;
    return [toFinding(message.name, isPlainObject(given) ? (given as JsonObject) : {}, message.success, message.text)];
  });
}
