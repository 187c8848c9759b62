import type { JsonObject, Message, Model, ModelEvent, ModelRequest, ToolDeclaration } from '@holdfast/core';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';
import type { Llama, LlamaOptions, LlamaModelOptions as LoadedOptions } from 'node-llama-cpp';
import { type LlamaModel, type LlamaModelOptions, loadLlamaModel } from './llama-model.ts';

export function loadTiny(options: Partial<LlamaModelOptions> = {}): Promise<LlamaModel> {
  return loadLlamaModel({ modelPath: tinyModelUrl, format: tinyFormat, importBinding: importStarted, ...options });
}

let started: Promise<Llama> | undefined;

/** Starts llama.cpp once for all models of a test file: each start tests the binary in a process of its own. */
export async function importStarted(): Promise<unknown> {
  const binding = await import('node-llama-cpp');
  const getLlama = async (options: LlamaOptions): Promise<unknown> => {
    started ??= binding.getLlama(options);
    const llama = await started;
    const models = new AsyncDisposableStack();
    return {
      loadModel: async (given: LoadedOptions) => models.use(await llama.loadModel(given)),
      createGrammar: llama.createGrammar.bind(llama),
      dispose: () => models.disposeAsync(),
    };
  };
  return { ...binding, getLlama };
}

export const weather: ToolDeclaration = {
  name: 'get_weather',
  description: 'look up the weather',
  inputSchema: objectOf({ city: { type: 'string', maxLength: 20 } }),
};
export const light: ToolDeclaration = {
  name: 'set_light',
  description: 'change the light',
  inputSchema: objectOf({ room: { type: 'string', maxLength: 20 }, on: { type: 'boolean' } }),
};

export function objectOf(properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function user(text: string): readonly Message[] {
  return [{ role: 'user', text }];
}

/** The events of one message. */
export async function ask(model: Model, parts: Partial<ModelRequest>): Promise<readonly ModelEvent[]> {
  const request = { messages: user('Hello'), tools: [], signal: new AbortController().signal, ...parts };
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request)) events.push(event);
  return events;
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

export function callsOf(
  events: readonly ModelEvent[],
): readonly { readonly name: string; readonly arguments: unknown }[] {
  return events.flatMap((event) => {
    if (event.type !== 'tool-call') return [];
    const { name, arguments: raw } = event;
    return [{ name, arguments: typeof raw === 'string' ? JSON.parse(raw) : raw }];
  });
}

export function endOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'finish' }> {
  const last = events.at(-1);
  if (last?.type !== 'finish') throw new Error('The message has no finish event.');
  return last;
}
