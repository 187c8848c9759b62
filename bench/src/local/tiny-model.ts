import { type LlamaModel, loadLlamaModel } from '@holdfast/adapter-llama-cpp';
import type { ModelEvent, ModelRequest, ToolDeclaration } from '@holdfast/core';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';

/** The answer limit, so that every variant generates about the same length. */
export const maxTokens = 64;

const text = (names: readonly string[]): ToolDeclaration['inputSchema'] => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 40 }])),
  required: [...names],
  additionalProperties: false,
});

const tools: readonly ToolDeclaration[] = [
  { name: 'get_weather', description: 'look up the weather in a city', inputSchema: text(['city']) },
  { name: 'send_mail', description: 'send a mail to a person', inputSchema: text(['to', 'subject']) },
  { name: 'set_timer', description: 'start a timer', inputSchema: text(['name']) },
];

export function loadTiny(
  options: { readonly constrain?: boolean; readonly sequences?: number } = {},
): Promise<LlamaModel> {
  return loadLlamaModel({ modelPath: tinyModelUrl, format: tinyFormat, maxTokens, ...options });
}

/** All different, so that none reuses the cache of another. */
export function createRequests(): () => ModelRequest {
  let count = 0;
  return () => {
    count += 1;
    return {
      messages: [{ role: 'user', text: `What is the weather in Lima number ${count}?` }],
      tools,
      signal: new AbortController().signal,
    };
  };
}

/** Reads an answer to its end. */
export async function answer(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent> {
  let last: ModelEvent | undefined;
  for await (const event of stream) last = event;
  if (last?.type !== 'finish') throw new Error('an answer had no end');
  return last;
}

/** Stops at the model's first output. */
export async function firstEvent(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent> {
  for await (const event of stream) return event;
  throw new Error('an answer was empty');
}
