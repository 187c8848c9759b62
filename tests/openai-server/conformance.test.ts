import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { describeThrown } from '@holdfast/core';
import { modelConformance, type ProviderReply } from '@holdfast/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PlayedServer, type Reply, startPlayed } from './test-server.ts';

let server: PlayedServer;
beforeAll(async () => {
  server = await startPlayed();
});
afterAll(() => server[Symbol.asyncDispose]());

function toReply(reply: ProviderReply): Reply {
  // All of it is JSON but what is thrown.
  return 'throw' in reply ? { throw: { message: describeThrown(reply.throw) } } : (reply as Reply);
}

// What was asked of the served model is what got through the server. It is read when a message is there.
const checks = modelConformance({
  async create(replies) {
    await server.play(replies.map(toReply));
    const provider = createOpenAICompatible({
      name: 'holdfast',
      baseURL: server.url,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    const model = aiSdkModel(provider.languageModel(server.model), { maxRetries: 0 });
    let asked: readonly unknown[] = [];
    return {
      model: {
        id: model.id,
        async *stream(request) {
          try {
            yield* model.stream(request);
          } finally {
            asked = await server.asked();
          }
        },
      },
      sent: () => asked,
    };
  },
});

test.each(checks)('a model, served, and asked through the AI SDK: $name', async ({ skipped, run }) => {
  expect(skipped).toBeUndefined();
  await expect(run()).resolves.toBeUndefined();
});
