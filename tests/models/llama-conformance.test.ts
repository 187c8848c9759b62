import { loadLlamaModel } from '@holdfast/adapter-llama-cpp';
import type { Model, ToolCall } from '@holdfast/core';
import type { ConversationFormat } from '@holdfast/core/types';
import { tinyModelUrl } from '@holdfast/model-tiny';
import { type ModelUnderTest, modelConformance, type ProviderReply } from '@holdfast/testing/conformance';
import { expect, test } from 'vitest';

// The answers of llama.cpp cannot be scripted, so its binding is simulated: a token is a character, and 0 ends a message.
const [end, call, say] = [0, 1, 2];

/** Shows all that it is given, so that it can be looked for. */
function recordingFormat(sent: unknown[]): ConversationFormat {
  return {
    call: '<call>',
    say: '<say>',
    toPrompt: (messages, tools) => {
      sent.push(structuredClone({ messages, tools }));
      return [JSON.stringify(messages)];
    },
    toCallSchema: ({ name, inputSchema }) => ({
      type: 'object',
      properties: { name: { const: name }, arguments: inputSchema },
      required: ['name', 'arguments'],
    }),
    readCall: (text) => JSON.parse(text) as ToolCall,
  };
}

function toTokens(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function playedBinding(replies: readonly ProviderReply[], sent: unknown[]) {
  const left = [...replies];
  let begins = say;
  let tokens: number[] = [];
  const next = (): void => {
    const reply = left.shift() ?? { text: '' };
    if ('throw' in reply) throw reply.throw;
    if (typeof reply === 'function') throw new Error('A reply that is a function is not played.');
    const [first] = reply.calls ?? [];
    begins = first === undefined ? say : call;
    const written = first === undefined ? (reply.text ?? '') : JSON.stringify(first);
    tokens = [...toTokens(written), ...(reply.finish === 'length' ? [] : [end])];
  };
  const sequence = {
    nextTokenIndex: 0,
    compareContextTokens: () => ({ firstDifferentIndex: 0 }),
    adaptStateToTokens: async () => next(),
    evaluateWithoutGeneratingNewTokens: async (batch: readonly number[]) => {
      sequence.nextTokenIndex += batch.length;
    },
    controlledEvaluate: async () => [{ next: { probabilities: new Map([[begins, 1]]) } }],
    eraseContextTokenRanges: async () => undefined,
    async *evaluate() {
      sequence.nextTokenIndex = 0;
      yield* tokens;
      // A cut message fills the rest of the context.
      while (true) yield 46;
    },
  };
  const special = new Map([
    ['<call>', call],
    ['<say>', say],
  ]);
  const model = {
    trainContextSize: 4096,
    createContext: async () => ({ batchSize: 512, getSequence: () => sequence }),
    tokenize: (text: string, isSpecial: boolean) => (isSpecial ? [special.get(text) ?? 3] : toTokens(text)),
    detokenize: (list: readonly number[]) => String.fromCodePoint(...list),
    isEogToken: (token: number) => token === end,
  };
  const llama = {
    loadModel: async () => model,
    createGrammar: async ({ grammar }: { readonly grammar: string }) => grammar,
    dispose: async () => undefined,
  };
  class LlamaGrammarEvaluationState {
    constructor({ grammar }: { readonly grammar: string }) {
      sent.push({ ...(sent.pop() as object), grammar });
    }
  }
  return { getLlama: async () => llama, LlamaGrammarEvaluationState };
}

async function create(replies: readonly ProviderReply[]): Promise<ModelUnderTest> {
  const sent: unknown[] = [];
  const model: Model = await loadLlamaModel({
    modelPath: tinyModelUrl,
    format: recordingFormat(sent),
    importBinding: async () => playedBinding(replies, sent),
  });
  return { model, sent: () => sent };
}

// It counts tokens itself, and its format has one call a message and no ids.
const own = ['calls come in order, with ids, names and arguments', 'tokens are reported as the provider counts them'];
const beside = 'an output schema reaches the provider with tools, which are called first';
const checks = modelConformance({ create }).filter(({ name }) => !own.includes(name) && name !== beside);

test.each(checks)('a model of llama.cpp: $name', async ({ run }) => {
  await expect(run()).resolves.toBeUndefined();
});

test('all but three of the checks are made', () => {
  expect(modelConformance({ create }).length - checks.length).toBe(3);
});
