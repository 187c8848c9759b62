import type { Message } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import type { ChatHistoryItem, ChatModelFunctionCall, ChatModelResponse } from 'node-llama-cpp';

/**
 * Converts a conversation to node-llama-cpp's form: calls and their results are part of the model's message, which continues after them.
 */
export function toChatHistory(messages: readonly Message[]): ChatHistoryItem[] {
  /** The latest call of each id: some models restart their ids in each message. */
  const called = new Map<string | undefined, ChatModelFunctionCall>();
  const history: ChatHistoryItem[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
      case 'user':
        history.push({ type: message.role, text: message.text });
        break;
      case 'assistant': {
        const calls = message.calls.map(
          ({ name, arguments: raw }): ChatModelFunctionCall => ({
            type: 'functionCall',
            name,
            params: decode(raw),
            result: '',
          }),
        );
        for (const [index, { id }] of message.calls.entries()) {
          const call = calls[index];
          if (call !== undefined) called.set(id, call);
        }
        openResponse(history).push(...(message.text === '' ? [] : [message.text]), ...calls);
        break;
      }
      case 'tool': {
        const call = called.get(message.callId);
        if (call !== undefined) call.result = message.text;
        break;
      }
      default:
        message satisfies never;
    }
  }
  openResponse(history);
  return history;
}

/** The model's message at the end, which the next answer continues. */
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
