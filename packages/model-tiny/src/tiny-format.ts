import type { Json, Message, ToolCall, ToolDeclaration } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import type { ConversationFormat, PromptPart } from '@holdfast/core/types';
import { rankTools } from './rank-tools.ts';
import { firstSentence, toSignature } from './signature.ts';

/**
 * The conversation format that the model was trained on: the request, the tools on one line, the highest-ranked first,
 * the request again, then calls, results and sentences. The context is 768 tokens, so only the first sentence of a
 * description or an error and the first 400 characters of a result are included, and system messages, which the
 * training data lacks, are left out. String values of calls are quoted from the conversation, as in the training data.
 *
 * Source: the training data, `user; tools; user; call; result; say` in special tokens called `<|hf_...|>`.
 */
export const tinyFormat: ConversationFormat = Object.freeze({
  call: '<|hf_call|>',
  say: '<|hf_say|>',
  // Of the values tried, the one with the most correct tools and correct refusals (`training/evaluate.mjs`).
  callShare: 0.6,
  toPrompt: (messages: readonly Message[], tools: readonly ToolDeclaration[]): readonly PromptPart[] => {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const request = messages[asked];
    return [
      special('<s>'),
      ...messages.slice(0, asked + 1).flatMap(toParts),
      special('<|hf_tools|>'),
      rankTools(tools.map(toSignature), request?.role === 'user' ? request.text : '').join('; '),
      ...messages.slice(Math.max(asked, 0)).flatMap(toParts),
    ];
  },
  toCallSchema: ({ name, inputSchema }: ToolDeclaration) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: inputSchema },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }),
  quotedTexts: (messages: readonly Message[]): readonly string[] => messages.flatMap(toQuoted),
  readCall,
});

function special(name: string): PromptPart {
  return { special: name };
}

function toParts(message: Message): readonly PromptPart[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return [special('<|hf_user|>'), message.text.trim()];
    case 'assistant': {
      const said = message.text.trim();
      return [
        ...(said === '' ? [] : [special('<|hf_say|>'), said, special('<|hf_end|>')]),
        ...message.calls.flatMap((call) => [special('<|hf_call|>'), writeCall(call), special('<|hf_end|>')]),
      ];
    }
    case 'tool':
      return [special('<|hf_result|>'), toResult(message.text, message.success)];
    default:
      return message satisfies never;
  }
}

/** Text from people and tools; the model's own words are not a source of values. */
function toQuoted(message: Message): readonly string[] {
  if (message.role === 'user') return [message.text.trim()];
  return message.role === 'tool' ? [toResult(message.text, message.success)] : [];
}

function writeCall({ name, arguments: raw }: ToolCall): string {
  const parsed = typeof raw === 'string' ? decode(raw) : raw;
  return JSON.stringify({ name, arguments: parsed ?? raw });
}

/** Characters. Training results were short, and a long one would fill the context. */
const longestResult = 400;

/** In the training data, results are objects: texts `{"text": ...}`, lists `{"items": ...}`, errors `{"error": ...}`. */
function toResult(text: string, success: boolean): string {
  if (!success) return JSON.stringify({ error: cut(firstSentence(text)) });
  if (text.length > longestResult) return JSON.stringify({ text: cut(text) });
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value : text;
  if (typeof value === 'string') return JSON.stringify({ text: value });
  if (Array.isArray(value)) return JSON.stringify({ items: value });
  return JSON.stringify(typeof value === 'object' && value !== null ? value : { result: value });
}

function cut(text: string): string {
  return text.length > longestResult ? `${text.slice(0, longestResult).toWellFormed()}...` : text;
}

/** Without a grammar a model may write anything: an object with a name is a call, and the call path validates its arguments. */
function readCall(text: string): ToolCall | undefined {
  const [, name, rest] = /^\s*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || rest === undefined) return undefined;
  return { name, arguments: rest.replace(/\}\s*$/, '') };
}

function decode(text: string): Json | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
