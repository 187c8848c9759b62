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
import { follow } from './follow.ts';
import { readRequest } from './request.ts';
import { type Finding, toFinding } from './results.ts';
import { toToolbox } from './toolbox.ts';
import { describeUnread } from './unread.ts';

/**
 * A rule-based stand-in for a language model: it has no network, no weights and no memory, and answers the same conversation
 * in the same way. It picks offered tools by the words of the last user message, fills their arguments from it, and reports
 * what they gave. At most 8 calls are made for one message.
 *
 * Of a message only the first 8,000 characters are read, and only English; the answer says so when that leaves something out.
 */
export function offlineModel(): Model {
  return { id: 'offline:rules', stream: answerRequest };
}

async function* answerRequest({ messages, tools, signal }: ModelRequest): AsyncIterable<ModelEvent> {
  signal.throwIfAborted();
  const asked = messages.findLastIndex((message) => message.role === 'user');
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
    yield { type: 'text-delta', text: [composeAnswer(step.value, toolbox), ...describeUnread(request)].join('\n\n') };
    yield { type: 'finish', reason: 'stop' };
    return;
  }
  yield { type: 'tool-call', id: `call-${done.length + 1}`, name: step.value.name, arguments: step.value.arguments };
  yield { type: 'finish', reason: 'tool-calls' };
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
