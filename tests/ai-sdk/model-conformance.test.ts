import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { modelConformance, type ProviderReply } from '@holdfast/testing/conformance';
import { describe, expect, test } from 'vitest';

type Version = AiSdkModel['specificationVersion'];

/** An AI SDK provider that returns `replies` and records its calls. */
function provider(version: Version, replies: readonly ProviderReply[]): AiSdkModel & { readonly sent: unknown[] } {
  const sent: unknown[] = [];
  return {
    specificationVersion: version,
    provider: 'played',
    modelId: version,
    sent,
    async doStream({ prompt, tools, responseFormat }) {
      const reply = replies[sent.length];
      // A copy, because the list grows with the conversation.
      sent.push(structuredClone({ prompt, tools, responseFormat }));
      if (reply === undefined) throw new Error('There is no further reply.');
      if ('throw' in reply) throw reply.throw;
      return { stream: ReadableStream.from(partsOf(version, reply)) };
    },
  };
}

function* partsOf(
  version: Version,
  { text = '', calls = [], finish, usage }: Exclude<ProviderReply, { throw: unknown }>,
) {
  if (text !== '') {
    yield { type: 'text-start', id: '1' };
    for (const delta of text.split(/(?=\s)/)) yield { type: 'text-delta', id: '1', delta };
    yield { type: 'text-end', id: '1' };
  }
  for (const { id, name, arguments: given } of calls) {
    yield { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(given) };
  }
  const reason = finish ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  const { inputTokens, outputTokens } = usage ?? {};
  if (version === 'v2') yield { type: 'finish', finishReason: reason, usage: { inputTokens, outputTokens } };
  else {
    const tokens = { inputTokens: { total: inputTokens }, outputTokens: { total: outputTokens } };
    yield { type: 'finish', finishReason: { unified: reason }, usage: tokens };
  }
}

describe.each<Version>(['v2', 'v3', 'v4'])('specification %s', (version) => {
  const checks = modelConformance({
    create: (replies) => {
      const played = provider(version, replies);
      return { model: aiSdkModel(played, { maxRetries: 0 }), sent: () => played.sent };
    },
  });

  test.each(checks)('$name', async ({ skipped, run }) => {
    expect(skipped).toBeUndefined();
    await expect(run()).resolves.toBeUndefined();
  });
});
