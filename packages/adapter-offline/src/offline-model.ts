import {
  decodeJson,
  isPlainObject,
  type JsonObject,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
} from '@holdfast/core';
import { composeAnswer } from './answer.ts';
import { fitOutput } from './fit-output.ts';
import { type Entry, follow } from './follow.ts';
import { readRequest } from './request.ts';
import { type Finding, toFinding } from './results.ts';
import { toToolbox } from './toolbox.ts';
import { describeUnread } from './unread.ts';

/**
 * A rule-based stand-in for a language model: it has no network, no weights and no memory, and answers the same conversation
 * in the same way. It picks offered tools by the words of the last user message, fills their arguments from it, and reports
 * what they gave. At most 8 calls are made for one message.
 *
 * Where JSON is asked for (`output`), it gives what one of the results has, by the names of the properties; when none has all of
 * it, it says so in words.
 *
 * Of a message only the first 8,000 characters are read, and only English; the answer says so when that leaves something out.
 */
export function offlineModel(): Model {
  return { id: 'offline:rules', stream: answerRequest };
}

async function* answerRequest({ messages, tools, signal, output }: ModelRequest): AsyncIterable<ModelEvent> {
  signal.throwIfAborted();
  const asked = messages.findLastIndex((message, index) => isRequest(message, messages[index - 1]));
  const request = messages[asked]?.text ?? '';
  const toolbox = toToolbox(tools);
  const done = findingsIn(messages.slice(asked + 1));
  const earlier = findingsIn(messages.slice(0, Math.max(asked, 0)))
    .filter((finding) => finding.success)
    .slice(-3);
  const following = follow(readRequest(request, toolbox), toolbox, earlier);
  let step = following.next();
  for (const finding of done) if (step.done !== true) step = following.next(finding);
  if (step.done === true) {
    const text = [composeAnswer(step.value, toolbox), ...describeUnread(request)].join('\n\n');
    yield { type: 'text-delta', text: output === undefined ? text : composeOutput(output, step.value, text) };
    yield { type: 'finish', reason: 'stop' };
    return;
  }
  yield { type: 'tool-call', id: `call-${done.length + 1}`, name: step.value.name, arguments: step.value.arguments };
  yield { type: 'finish', reason: 'tool-calls' };
}

/** What a run says between its turns, and of an output that is none, asks for nothing new. */
function isRequest({ role, text }: Message, before: Message | undefined): boolean {
  return role === 'user' && before?.role !== 'tool' && !text.startsWith('Your message is not the output');
}

function composeOutput(schema: JsonObject, entries: readonly Entry[], text: string): string {
  const findings = entries.flatMap((entry) => (entry.type === 'done' ? [entry.finding] : []));
  const fitted = fitOutput(schema, findings, text);
  if (fitted.ok) return JSON.stringify(fitted.value);
  const lacking = fitted.lacking.map((name) => `\`${name.slice(0, 100)}\``).join(', ');
  return `I am made of rules and cannot answer with the JSON that is asked for: no result that I have gives ${lacking}.\n\n${text}`;
}

/** The calls of a piece of conversation that have a result, in the order of the results. */
function findingsIn(messages: readonly Message[]): readonly Finding[] {
  const calls = new Map<string, JsonObject>();
  const findings: Finding[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.calls) calls.set(call.id, toObject(call.arguments));
    if (message.role === 'tool')
      findings.push(toFinding(message.name, calls.get(message.callId) ?? {}, message.success, message.text));
  }
  return findings;
}

function toObject(given: unknown): JsonObject {
  // What the model itself has sent is plain JSON; a log may have kept it as text.
  const value: unknown = typeof given === 'string' ? parse(given) : given;
  return isPlainObject(value) ? (value as JsonObject) : {};
}

function parse(text: string): unknown {
  try {
    return decodeJson(text);
  } catch {
    // Another model's call in the same conversation, cut or malformed: its result still tells something.
    return undefined;
  }
}
