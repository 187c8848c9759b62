import type { Model, ModelEvent, ModelRequest } from '@holdfast/core';
import { scriptedModel } from '@holdfast/testing';
import { type ModelUnderTest, modelConformance, type ProviderReply } from '@holdfast/testing/conformance';
import { expect, test } from 'vitest';

function create(replies: readonly ProviderReply[]): ModelUnderTest {
  const model = scriptedModel(replies);
  return {
    model,
    sent: () => model.requests.map(({ messages, tools, output }) => ({ messages, tools, output })),
  };
}

const checks = modelConformance({ create });

test.each(checks)('the scripted model: $name', async ({ skipped, run }) => {
  expect(skipped).toBeUndefined();
  await expect(run()).resolves.toBeUndefined();
});

test('what a provider is without is skipped, and does not pass', async () => {
  const skipped = modelConformance({ create, without: ['output', 'usage'] }).filter((check) => check.skipped);
  expect(skipped.map(({ name }) => name)).toEqual([
    'tokens are reported as the provider counts them',
    'an output schema reaches the provider, only if requested',
    'an output schema reaches the provider with tools, which are called first',
  ]);
  for (const { run } of skipped) await expect(run()).rejects.toMatchObject({ code: 'conformance.skipped' });
});

type Change = (event: ModelEvent) => readonly ModelEvent[];

/** A model that breaks a promise: in what it is asked for, or in what it answers. */
function broken({ ask = (request) => request, tell = (event) => [event] }: Fault): (made: ModelUnderTest) => Model {
  return ({ model }) => ({
    ...model,
    async *stream(request) {
      for await (const event of model.stream(ask(request))) yield* tell(event);
    },
  });
}

interface Fault {
  readonly ask?: (request: ModelRequest) => ModelRequest;
  readonly tell?: Change;
}

const { signal: never } = new AbortController();
let kept: ModelRequest['output'];

const faults: Readonly<Record<string, Fault | ((made: ModelUnderTest) => Model)>> = {
  'text is complete, and a message ends once, last': {
    tell: (event) => (event.type === 'finish' ? [event, event] : [event]),
  },
  'calls come in order, with ids, names and arguments': {
    tell: (event) => [event.type === 'tool-call' ? { ...event, id: 'call-1' } : event],
  },
  'a cut message is marked as cut': {
    tell: (event) => [event.type === 'finish' && event.reason === 'length' ? { ...event, reason: 'stop' } : event],
  },
  'tokens are reported as the provider counts them': {
    tell: (event) => [event.type === 'finish' ? { type: 'finish', reason: event.reason } : event],
  },
  'the whole conversation reaches the provider': {
    ask: (request) => ({ ...request, messages: request.messages.filter(({ role }) => role !== 'system') }),
  },
  'a growing conversation reaches the provider completely each time': {
    ask: (request) => ({ ...request, messages: request.messages.slice(-1) }),
  },
  'tools reach the provider, with descriptions and parameters': {
    ask: (request) => ({ ...request, tools: request.tools.map((tool) => ({ ...tool, description: '' })) }),
  },
  'an output schema reaches the provider, only if requested': {
    ask: (request) => {
      kept = request.output ?? kept;
      return { ...request, output: kept };
    },
  },
  'an output schema reaches the provider with tools, which are called first': {
    ask: (request) => (request.tools.length > 0 ? { ...request, output: undefined } : request),
  },
  'errors of the provider are thrown': ({ model }) => ({
    ...model,
    async *stream(request) {
      try {
        yield* model.stream(request);
      } catch (thrown) {
        // Swallows what is wrong with the provider, not that the request is over.
        if (request.signal.aborted) throw thrown;
        yield { type: 'finish', reason: 'other' };
      }
    },
  }),
  'an aborted request is not sent, and ends with the reason': ({ model }) => ({
    ...model,
    async *stream(request) {
      yield* model.stream({ ...request, signal: never });
      request.signal.throwIfAborted();
    },
  }),
  'a request aborted during the answer ends with the reason': {
    ask: (request) => ({ ...request, signal: never }),
  },
};

test('every check has a model that it finds', () => {
  expect(Object.keys(faults)).toEqual(checks.map(({ name }) => name));
});

test.each(Object.entries(faults))('%s: a model that does not is found by this check', async (name, fault) => {
  const damage = typeof fault === 'function' ? fault : broken(fault);
  const suite = modelConformance({
    create: (replies) => {
      kept = undefined;
      const made = create(replies);
      return { model: damage(made), sent: made.sent };
    },
  });
  const found: string[] = [];
  for (const check of suite) {
    const problem = await check.run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (problem === undefined) continue;
    expect(problem).toMatchObject({ code: 'conformance.failed' });
    found.push(check.name);
  }
  expect(found).toContain(name);
});
