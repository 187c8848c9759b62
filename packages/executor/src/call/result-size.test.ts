import { defineTool, type Model, type Outcome, type Tool, toolError, toolOk } from '@holdfast/core';
import { type RecordedOutcome, readOutcome } from '@holdfast/core/internal';
import { createSession, explainCall, type LogRecord, memoryStore, replay } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, echo, outcomeOf, playing, say, stop, testSession, toolsPrompt } from '../fixtures.ts';
import { resumeRun, runAgent } from '../index.ts';

const asked = { id: 'c1', name: 'look', arguments: '' };

function looking(
  execute: () => unknown,
  more: { renderResult?(value: unknown): string; maxResultChars?: number } = {},
): Tool {
  return defineTool<Record<string, never>, unknown>({
    name: 'look',
    description: 'Looks.',
    effects: 'none',
    ...more,
    execute,
  });
}

const long = 'a'.repeat(99_000) + 'z'.repeat(1_000);

test.each([
  { why: 'by default', expected: 60_000 },
  { why: 'as the runner says', runner: 2_000, expected: 2_000 },
  { why: 'as the tool says', tool: 90_000, expected: 90_000 },
  { why: 'the lesser, the runner', runner: 1_000, tool: 5_000, expected: 1_000 },
  { why: 'the lesser, the tool', runner: 5_000, tool: 1_000, expected: 1_000 },
])('D17: of a long result head and tail go to the model, $why', async ({ runner, tool, expected }) => {
  const { session } = testSession();
  const outcome = await outcomeOf(asked, {
    tools: [looking(() => toolOk(long, 'Found.'), tool === undefined ? {} : { maxResultChars: tool })],
    session,
    ...(runner === undefined ? {} : { maxResultChars: runner }),
  });
  expect(outcome).toMatchObject({ kind: 'ok', value: long, rendered: JSON.stringify(long) });
  expect(outcome.text.length).toBeLessThanOrEqual(expected);
  expect(outcome.text.length).toBeGreaterThan(expected - 20);
  expect(outcome.text).toMatch(/^Found\.\n\n"a+\n\n\[\d+ of 100010 characters are missing here\. .*\]\n\na*z+"$/);
  const [, missing] = /\[(\d+) of/.exec(outcome.text) ?? [];
  expect(outcome.text.replace(/\n\n\[.*\]\n\n/, '').length + Number(missing)).toBe(100_010);
});

test.each([
  { why: 'of a renderer', tool: looking(() => 1, { renderResult: () => long }) },
  { why: 'of a message', tool: looking(() => toolOk(null, long)) },
  { why: 'of a payload', tool: looking(() => toolError('No.', { value: long })) },
])('D17: the long text $why is cut, too', async ({ tool }) => {
  const { session } = testSession();
  const { text } = await outcomeOf(asked, { tools: [tool], session, maxResultChars: 1_000 });
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text).toContain('characters are missing here');
});

test('D17: no character is cut in two, and a run sends the cut text', async () => {
  for (let length = 995; length < 1_010; length += 1) {
    const { session } = testSession();
    const model = playing([call('look', '', 'c1'), stop], [say('Done.'), stop]);
    const tools = [looking(() => toolOk(null, `${'a'.repeat(length)}${'\u{1f600}'.repeat(1_000)}`))];
    await runAgent({ model, prompt: toolsPrompt(tools), session, input: 'Look.', maxResultChars: 1_000 + (length % 4) })
      .result;
    const sent = model.requests[1]?.messages.at(-1);
    expect(sent?.text.isWellFormed()).toBe(true);
    expect(sent?.text.length).toBeLessThanOrEqual(1_003);
  }
});

test.each([0, 999, 1_000.5, Number.NaN, '5000'])('options.invalid: `maxResultChars` %s', async (maxResultChars) => {
  const invalid = expect.objectContaining({
    code: 'options.invalid',
    data: expect.objectContaining({ reason: 'max_result_chars' }),
  });
  const given = { maxResultChars: maxResultChars as number };
  expect(() => looking(() => 1, given)).toThrow(invalid);
  await expect(outcomeOf(asked, { tools: [looking(() => 1)], session: createSession(), ...given })).rejects.toEqual(
    invalid,
  );
});

const shapes: readonly { readonly name: string; readonly tool: Tool }[] = [
  { name: 'a value', tool: looking(() => ({ a: 1, none: null })) },
  { name: 'null', tool: looking(() => null) },
  { name: 'a message and a value', tool: looking(() => toolOk([1, null], 'Two.')) },
  {
    name: 'a value that is kept out',
    tool: looking(() => toolOk('secret', 'Kept.', { excludeValueFromContext: true })),
  },
  {
    name: 'nothing but a value that is kept out',
    tool: looking(() => toolOk('secret', '', { excludeValueFromContext: true })),
  },
  { name: 'a text of its own', tool: looking(() => 5, { renderResult: () => 'five' }) },
  { name: 'an empty text of its own', tool: looking(() => 5, { renderResult: () => '' }) },
  { name: 'a long value', tool: looking(() => long) },
  { name: 'a failure', tool: looking(() => toolError('No.')) },
  { name: 'a failure without words', tool: looking(() => toolError('')) },
  { name: 'a payload', tool: looking(() => toolError('No.', { value: { a: null } })) },
  {
    name: 'a throw',
    tool: looking(() => {
      throw new Error('broke');
    }),
  },
];

test.each(shapes)(
  'the record of $name has no long text twice, and the whole outcome can be read from it',
  async ({ tool }) => {
    const { session, ends, records } = testSession();
    const outcome = await outcomeOf(asked, { tools: [tool], session, maxResultChars: 1_000 });
    const recorded = JSON.parse(JSON.stringify(ends()[0]?.['outcome'])) as RecordedOutcome;
    if (outcome.text.length > 200) expect(recorded).not.toHaveProperty('text');
    expect(readOutcome(recorded)).toEqual(outcome);
    expect(outcome.text).not.toBe('');
    expect(explainCall(JSON.parse(JSON.stringify(records)) as LogRecord[], 'c1')?.uses[0]?.end?.outcome).toEqual(
      outcome,
    );
  },
);

test('records of earlier versions, which have the texts, are read as they are', () => {
  const old: Outcome = {
    kind: 'ok',
    callId: 'c',
    name: 'look',
    code: undefined,
    message: '',
    value: 1,
    rendered: 'one',
    text: 'x',
  };
  expect(readOutcome(old)).toEqual(old);
});

test('a value of 2 MB is in the log once', async () => {
  const { session, records } = testSession();
  await outcomeOf(asked, { tools: [looking(() => 'a'.repeat(2_000_000))], session });
  expect(JSON.stringify(records).length).toBeLessThan(2_005_000);
});

test('refused arguments of 5 MB are kept as length and digest, by a direct call and by a run, which can be resumed', async () => {
  const huge = `{"q":"${'a'.repeat(5_000_000)}"}`;
  const direct = testSession();
  expect(
    await outcomeOf({ id: 'd', name: 'echo', arguments: huge }, { tools: [echo], session: direct.session }),
  ).toMatchObject({
    kind: 'invalid',
    code: 'arguments.invalid',
    reason: 'too_large',
  });
  const omitted = { length: huge.length, digest: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect(direct.ends()[0]).toMatchObject({ rawArguments: null, omitted });
  expect(JSON.stringify(direct.records).length).toBeLessThan(3_000);

  const store = memoryStore();
  const model = playing([call('echo', huge, 'c1'), call('echo', { q: 'a' }, 'c2'), stop], [say('Done.'), stop]);
  const prompt = toolsPrompt([echo]);
  await runAgent({ model, prompt, session: createSession({ store }), input: 'Go.' }).result;
  expect(JSON.stringify(store.records).length).toBeLessThan(6_000);
  expect(store.records.find(({ type }) => type === 'model-message')).toMatchObject({
    calls: [
      { id: 'c1', arguments: null, omitted },
      { id: 'c2', arguments: { q: 'a' } },
    ],
  });
  // The process ends after the message.
  const cut = store.records.slice(0, store.records.findIndex(({ type }) => type === 'model-message') + 1);
  const again: Model = playing([say('Done.'), stop]);
  const session = replay(cut, { store: memoryStore(cut) });
  const { outcomes, status } = await resumeRun({ model: again, prompt, session }).result;
  expect(status).toBe('completed');
  expect(outcomes[0]?.kind).not.toBe('ok');
});

test('arguments of 100 kB that the schema refuses are not kept; accepted ones are', async () => {
  const { session, ends } = testSession();
  const tool = defineTool({
    name: 'take',
    description: 'Takes.',
    effects: 'none',
    inputSchema: v.object({ q: v.string(), n: v.optional(v.number()) }),
    execute: () => null,
  });
  const q = 'a'.repeat(100_000);
  await outcomeOf({ id: 'a', name: 'take', arguments: JSON.stringify({ q, n: 'x' }) }, { tools: [tool], session });
  await outcomeOf({ id: 'b', name: 'take', arguments: { q, n: 'x' } }, { tools: [tool], session });
  await outcomeOf({ id: 'c', name: 'take', arguments: JSON.stringify({ q }) }, { tools: [tool], session });
  expect(ends().map((end) => [end['rawArguments'] === null, end['omitted'] !== undefined])).toEqual([
    [true, true],
    [true, true],
    [false, false],
  ]);
});
