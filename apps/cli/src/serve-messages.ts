import type { Message } from '@holdfast/core';
import {
  type Field,
  type Fields,
  fail,
  invalid,
  isAbsent,
  readFields,
  readList,
  readString,
  unsupported,
} from './serve-fields.ts';

type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

/**
 * The conversation of a request. Every call has to be answered before anybody says more, as OpenAI wants it, too.
 *
 * @throws HoldfastError `serve.request_invalid`, `serve.parameter_unsupported`.
 */
export function readMessages(field: Field): readonly Message[] {
  /** Names of the calls of the last message that have no result yet, by their ids. */
  const unanswered = new Map<string, string>();
  const messages = readList(field, (item): Message => {
    const fields = readFields(item);
    if (fields('role').value === 'tool') return readResult(fields, unanswered);
    checkAnswered(unanswered, item.path);
    return readMessage(fields, unanswered);
  });
  if (messages.length === 0) throw invalid(field.path, '`messages` is empty: send at least one message.');
  checkAnswered(unanswered, field.path);
  return messages;
}

function readMessage(fields: Fields, unanswered: Map<string, string>): Message {
  const role = fields('role');
  const content = fields('content');
  switch (role.value) {
    case 'system':
    case 'developer':
      return { role: 'system', text: readText(content) };
    case 'user':
      return { role: 'user', text: readText(content) };
    case 'assistant': {
      const calls = readCalls(fields);
      for (const { id, name } of calls) unanswered.set(id, name);
      return { role: 'assistant', text: isAbsent(content) ? '' : readText(content), calls };
    }
    case 'function':
      throw unsupported(role.path, `\`${role.path}\` is \`function\`, the old way: use \`tool\`.`);
    default:
      return fail(role, '`system`, `developer`, `user`, `assistant` or `tool`');
  }
}

function readCalls(fields: Fields): AssistantMessage['calls'] {
  const calls = fields('tool_calls');
  const call = fields('function_call');
  if (!isAbsent(call)) throw unsupported(call.path, `\`${call.path}\` is the old way: use \`tool_calls\`.`);
  if (isAbsent(calls)) return [];
  const ids = new Set<string>();
  return readList(calls, (item) => {
    const each = readFields(item);
    const type = each('type');
    if (type.value !== 'function') fail(type, '`function`');
    const id = readString(each('id'));
    if (id === '' || ids.has(id)) {
      const { path } = each('id');
      throw invalid(path, `\`${path}\` must be an id that no other call of the message has.`);
    }
    ids.add(id);
    const called = readFields(each('function'));
    return { id, name: readString(called('name')), arguments: readString(called('arguments')) };
  });
}

function readResult(fields: Fields, unanswered: Map<string, string>): Message {
  const id = fields('tool_call_id');
  const callId = readString(id);
  const name = unanswered.get(callId);
  if (name === undefined) {
    throw invalid(id.path, `\`${id.path}\` names no unanswered call of the assistant's message before it.`);
  }
  unanswered.delete(callId);
  // The protocol has no word for a call that failed: its text says so.
  return { role: 'tool', callId, name, success: true, text: readText(fields('content')) };
}

function checkAnswered(unanswered: ReadonlyMap<string, string>, path: string): void {
  const [id] = unanswered.keys();
  if (id === undefined) return;
  throw invalid(
    path,
    `A call of the assistant's message has no answer: send a message of role \`tool\` with \`tool_call_id\` ${JSON.stringify(id.slice(0, 100))} behind it.`,
  );
}

/** A string, or parts that are text. */
function readText(content: Field): string {
  const { value } = content;
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return fail(content, 'a string or a list of parts');
  return readList(content, (item) => {
    const part = readFields(item);
    const type = part('type');
    const kind = readString(type);
    if (kind === 'text' || kind === 'refusal') return readString(part(kind));
    throw unsupported(type.path, `Parts of type ${JSON.stringify(kind.slice(0, 100))} are not taken: only \`text\`.`);
  }).join('\n');
}
