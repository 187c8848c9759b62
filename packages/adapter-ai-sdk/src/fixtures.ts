import type { Model, ModelEvent, ModelRequest } from '@holdfast/core';
import type { AiSdkCallOptions, AiSdkModel, StreamPart } from './specification.ts';

export type Version = AiSdkModel['specificationVersion'];
export const versions: readonly Version[] = ['v2', 'v3', 'v4'];

/** One reply of a fake model: the parts of its stream, or the error it throws. */
export type Reply = readonly unknown[] | { readonly throws: unknown };

export interface FakeModel extends AiSdkModel {
  /** The options of each request, in order. */
  readonly requests: readonly AiSdkCallOptions[];
}

/** A model of the given specification version that plays `replies`. */
export function fakeModel(
  replies: readonly Reply[],
  {
    version = 'v4',
    provider = 'fake',
    modelId = 'one',
  }: { readonly version?: Version; readonly provider?: string; readonly modelId?: string } = {},
): FakeModel {
  const requests: AiSdkCallOptions[] = [];
  return {
    specificationVersion: version,
    provider,
    modelId,
    requests,
    async doStream(options) {
      const reply = replies[requests.length];
      requests.push({ ...options, prompt: [...options.prompt] });
      if (reply === undefined) throw new Error('The fake model has no more replies.');
      if ('throws' in reply) throw reply.throws;
      return { stream: ReadableStream.from(reply) };
    },
  };
}

/** The finish part in the form of each version. */
export function finish(version: Version, reason: string, tokens = { input: 7, output: 3 }): StreamPart {
  if (version === 'v2') {
    return { type: 'finish', finishReason: reason, usage: { inputTokens: tokens.input, outputTokens: tokens.output } };
  }
  return {
    type: 'finish',
    finishReason: { unified: reason },
    usage: { inputTokens: { total: tokens.input }, outputTokens: { total: tokens.output } },
  };
}

export function text(...deltas: readonly string[]): StreamPart[] {
  return [
    { type: 'text-start', id: '1' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
    { type: 'text-end', id: '1' },
  ];
}

export function call(toolCallId: string, toolName: string, input: string): StreamPart[] {
  return [
    { type: 'tool-input-start', id: toolCallId, toolName },
    { type: 'tool-input-delta', id: toolCallId, delta: input },
    { type: 'tool-call', toolCallId, toolName, input },
  ];
}

export function request(parts: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [{ role: 'user', text: 'Hello' }], tools: [], signal: new AbortController().signal, ...parts };
}

export async function collect(model: Model, parts?: Partial<ModelRequest>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request(parts))) events.push(event);
  return events;
}

/** A model whose stream sends one delta, then hangs and ignores the signal. */
export function silentModel(): { readonly model: AiSdkModel; readonly isCancelled: () => boolean } {
  let cancelled = false;
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue({ type: 'text-delta', id: '1', delta: 'so far' }),
    cancel() {
      cancelled = true;
    },
  });
  return {
    model: { ...fakeModel([]), doStream: async () => ({ stream }) },
    isCancelled: () => cancelled,
  };
}
