import { type Message, parseJson } from '@holdfast/core';
import type { ChatHistoryItem, ChatModelFunctionCall, ChatModelResponse } from 'node-llama-cpp';

/** A conversation as node-llama-cpp has it: calls stand with their results in the message that made them, which then goes on. */
export function toChatHistory(messages: readonly Message[]): ChatHistoryItem[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.callId, message.text] as const] : [])),
  );
  const history: ChatHistoryItem[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
      case 'user':
        history.push({ type: message.role, text: message.text });
        break;
      case 'assistant': {
        const calls = message.calls.map(
          ({ id, name, arguments: raw }): ChatModelFunctionCall => ({
            type: 'functionCall',
            name,
            params: decode(raw),
            result: results.get(id) ?? '',
          }),
        );
        openResponse(history).push(...(message.text === '' ? [] : [message.text]), ...calls);
        break;
      }
      case 'tool':
        break;
      default:
        message satisfies never;
    }
  }
  openResponse(history);
  return history;
}

/** The model's message at the end, which the next answer is part of. */
function openResponse(history: ChatHistoryItem[]): ChatModelResponse['response'] {
  const last = history.at(-1);
  if (last?.type === 'model') return last.response;
  const response: ChatModelResponse['response'] = [];
  history.push({ type: 'model', response });
  return response;
}

function decode(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  const parsed = parseJson(raw);
  return parsed.ok ? parsed.value : raw;
}
