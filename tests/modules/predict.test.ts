import type { Model } from '@holdfast/core';
import { chainOfThought, defineSignature, type Prediction, predict, type Signature } from '@holdfast/modules';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';

/** Answers each request by its last message, once `released`. */
function answering(answer: (asked: string) => string, released: Promise<void> = Promise.resolve()): Model {
  return {
    id: 'test:answering',
    async *stream({ messages }) {
      await released;
      yield { type: 'text-delta', text: answer(messages.at(-1)?.text ?? '') };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

interface Part {
  name: string;
  parts: Part[];
}
const part: v.GenericSchema<Part> = v.object({ name: v.string(), parts: v.array(v.lazy(() => part)) });

const offer = defineSignature({
  name: 'offer',
  instruction: 'Make an offer.',
  inputSchema: v.object({
    customer: v.pipe(v.string(), v.description('Who asks.')),
    mood: v.optional(v.picklist(['friendly', 'grim']), 'friendly'),
  }),
  outputSchema: v.object({
    price: v.pipe(
      v.number(),
      v.integer(),
      v.check((price) => price % 2 === 0, 'must be even'),
    ),
    words: v.pipe(v.string(), v.trim(), v.toUpperCase()),
    tone: v.optional(v.nullable(v.picklist(['friendly', 'grim'])), null),
    whole: v.optional(part),
  }),
});

type Asked = { customer: string; mood?: 'friendly' | 'grim' | undefined };
type Offered = { price: number; words: string; tone: 'friendly' | 'grim' | null; whole?: Part | undefined };

test('a signature of valibot schemas has the types that go in, and those that come out', () => {
  expectTypeOf(offer).toEqualTypeOf<Signature<Asked, Offered>>();
  const predictor = predict(offer, { model: answering(() => '') });
  expectTypeOf(predictor.invoke).parameter(0).toEqualTypeOf<Asked>();
  expectTypeOf(predictor.invoke).returns.resolves.toEqualTypeOf<Prediction<Offered>>();
});

test('what the schemas do to a value is done: defaults, checks, changes', async () => {
  const asked: string[] = [];
  const answers = ['price: 7\nwords: now', 'price: 8\nwords:  now '];
  const model = answering((text) => {
    asked.push(text);
    return answers[asked.length - 1] ?? '';
  });
  const { output, requests } = await predict(offer, { model }).invoke({ customer: 'Ann' });
  expect(output).toEqual({ price: 8, words: 'NOW', tone: null });
  expect(requests).toBe(2);
  expect(asked[0]).toContain('[[ ## mood ## ]]\nfriendly');
  expect(asked[1]).toContain('- the field `price`: must be even');
});

test('a field that refers to itself is read to its depth', async () => {
  const whole = { name: 'a', parts: [{ name: 'b', parts: [] }] };
  const model = answering(() => JSON.stringify({ price: 2, words: 'x', whole }));
  expect((await predict(offer, { model }).invoke({ customer: 'Ann' })).output.whole).toEqual(whole);
});

test('invocations at the same time have nothing to do with each other', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const counts = new Map<string, number>();
  const model = answering((text) => {
    const customer = /customer (\d+)/.exec(text)?.[1] ?? '';
    // Every second one is asked twice; the second question has no customer in its last message.
    if (customer === '') return 'price: 2\nwords: again';
    counts.set(customer, (counts.get(customer) ?? 0) + 1);
    return Number(customer) % 2 === 0 ? `reasoning: of ${customer}\nprice: ${Number(customer) * 2}\nwords: w` : 'No.';
  }, released);
  const predictor = chainOfThought(offer, { model });
  const invoked = Array.from({ length: 20 }, (_none, index) => predictor.invoke({ customer: `customer ${index}` }));
  release();
  const predictions = await Promise.all(invoked);
  expect(counts.size).toBe(20);
  for (const [index, { output, reasoning, requests, usage }] of predictions.entries()) {
    const isEven = index % 2 === 0;
    expect(output.price).toBe(isEven ? index * 2 : 2);
    expect(reasoning).toBe(isEven ? `of ${index}` : undefined);
    expect([requests, usage.inputTokens]).toEqual(isEven ? [1, 1] : [2, 2]);
  }
});

test('a schema that cannot be used is refused when the signature is made', () => {
  const define = (output: v.GenericSchema) =>
    defineSignature({ name: 'x', inputSchema: v.object({ q: v.string() }), outputSchema: v.object({ output }) });
  expect(() => define(v.bigint())).toThrow(expect.objectContaining({ code: 'schema.invalid', reason: 'unsupported' }));
  expect(() => define(v.string())).not.toThrow();
});
