import type { AiSdkModel } from '@holdfast/adapter-ai-sdk';
import { argumentsText, toolName } from './work.ts';

/** The parts that both the AI SDK's loop and our adapter read. */
export const usage: {
  readonly inputTokens: {
    readonly total: number;
    readonly noCache: number;
    cacheRead: undefined;
    cacheWrite: undefined;
  };
  readonly outputTokens: { readonly total: number; readonly text: number; reasoning: undefined };
} = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/**
 * An AI SDK model object that requests one call in each of `turns` messages and then answers. Its streams are minimal for
 * `aiSdkModel`, so that the time measures our code, not the platform's web streams.
 */
export function scriptedProvider(turns: number): AiSdkModel {
  let asked = 0;
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'script',
    async doStream() {
      asked += 1;
      return { stream: streamOf(asked <= turns ? callParts(asked) : answerParts) };
    },
  };
}

function callParts(turn: number): readonly object[] {
  const toolCallId = `call-${turn}`;
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-input-start', id: toolCallId, toolName },
    { type: 'tool-input-delta', id: toolCallId, delta: argumentsText },
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName, input: argumentsText },
    { type: 'finish', usage, finishReason: { unified: 'tool-calls', raw: undefined } },
  ];
}

const answerParts: readonly object[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Done.' },
  { type: 'text-end', id: '1' },
  { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } },
];

function streamOf(parts: readonly object[]): Awaited<ReturnType<AiSdkModel['doStream']>>['stream'] {
  const iterator = parts.values();
  return {
    getReader: () => ({
      read: async () => {
        const { done = false, value } = iterator.next();
        return { done, value };
      },
      cancel: async () => undefined,
    }),
  };
}
