import type { Json, Model, ModelEvent } from '@holdfast/core';
import { createSession, memoryStore, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { call, diary, notes, playing, say, stop, testSession, toolsPrompt, writer } from '../fixtures.ts';
import { createBudget, resumeRun, runAgent } from '../index.ts';

const finish = (reason: unknown): ModelEvent => ({ type: 'finish', reason }) as ModelEvent;
const text = say('The answer is');
const whole = call('write', '{}', 'a');
const cut = call('write', '{"q":"par', 'b');

const prompt = toolsPrompt([writer(() => 1)]);

async function run(model: Model, options: Partial<Parameters<typeof runAgent>[0]> = {}) {
  const { session, records } = testSession();
  const result = await runAgent({ model, prompt, session, input: '', ...options }).result;
  return { result, session, records, recorded: records.find(({ type }) => type === 'model-message')?.['reason'] };
}

/** The recorded reason, the outcomes of complete and cut calls, and whether a text counts as cut. */
const ends: readonly [what: string, end: readonly ModelEvent[], recorded: string, whole: string, cut: string][] = [
  ['stop', [finish('stop')], 'stop', 'ok', 'invalid'],
  ['tool-calls', [finish('tool-calls')], 'tool-calls', 'ok', 'invalid'],
  ['other', [finish('other')], 'other', 'ok', 'invalid'],
  ['an unknown reason', [finish('tired')], 'other', 'ok', 'invalid'],
  ['length', [finish('length')], 'length', 'truncated', 'truncated'],
  ['content-filter', [finish('content-filter')], 'content-filter', 'truncated', 'truncated'],
  ['no `finish`', [], 'no-finish', 'truncated', 'truncated'],
];

test.each(ends)('a message that ends by %s', async (_what, end, recorded, wholeKind, cutKind) => {
  const isCut = ['length', 'content-filter', 'no-finish'].includes(recorded);

  const said = await run(playing([text, ...end]));
  expect(said.result).toMatchObject({ status: 'completed', text: 'The answer is', turns: 1 });
  expect(said.result.cut).toBe(isCut ? recorded : undefined);
  expect(said.result.unfinished).toEqual(isCut ? expect.stringContaining(`(\`${recorded}\`)`) : undefined);
  expect(said.recorded).toBe(recorded);
  expect(said.records.at(-1)).toMatchObject({ type: 'run-end', status: 'completed' });
  expect(said.records.at(-1)?.['cut']).toBe(isCut ? recorded : undefined);

  const called = await run(playing([text, whole, ...end], [say('Ok.'), stop]));
  expect(called.result).toMatchObject({ status: 'completed', text: 'Ok.', outcomes: [{ kind: wholeKind }] });
  expect(called.result).not.toHaveProperty('cut');
  expect(called.result).not.toHaveProperty('unfinished');
  expect(called.session.read(notes).size).toBe(wholeKind === 'ok' ? 1 : 0);

  const both = await run(playing([whole, cut, ...end], [say('Ok.'), stop]));
  expect(both.result.outcomes.map(({ kind }) => kind)).toEqual([wholeKind, cutKind]);
  expect(both.recorded).toBe(recorded);
});

test('a `finish` without a reason: whole calls run, and calls cut in their arguments are truncated with those before them', async () => {
  for (const reason of [undefined, null, 7]) {
    const said = await run(playing([text, finish(reason)]));
    expect(said.result).not.toHaveProperty('cut');
    expect(said.recorded).toBe('other');

    const called = await run(playing([whole, call('write', '', 'c'), finish(reason)], [say('Ok.'), stop]));
    expect(called.result.outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok']);
    expect(called.recorded).toBe('other');

    const both = await run(playing([whole, cut, finish(reason)], [say('Ok.'), stop]));
    expect(both.result.outcomes.map(({ kind, code }) => [kind, code])).toEqual([
      ['truncated', 'call.truncated'],
      ['truncated', 'call.truncated'],
    ]);
    expect(both.session.read(notes).size).toBe(0);
    expect(both.recorded).toBe('no-finish');
  }
});

test('a stream that says nothing at all is a model error', async () => {
  const { result } = await run(playing([]));
  expect(result).toMatchObject({
    status: 'model-error',
    error: { message: 'The model ended its message without `finish`.' },
  });
});

test('a cut text that used up the budget is told as cut', async () => {
  const { result } = await run(
    playing([text, { type: 'finish', reason: 'length', usage: { inputTokens: 9, outputTokens: 9 } }]),
    { budget: createBudget({ maxTokens: 5 }) },
  );
  expect(result).toMatchObject({ status: 'budget', text: 'The answer is', cut: 'length' });
});

test.each(['length', 'content-filter', 'no-finish'])(
  'a process that ended behind a message cut by %s: the resumed run runs no call, and says when its text was cut',
  async (reason) => {
    const begin = (text: string, calls: Json): Session => {
      const session = createSession({ id: 's', slices: [notes, diary], store: memoryStore() });
      session.record({ type: 'run-start', sessionId: 's', run: 1, model: 'm', prompt: 'p', input: 'Go.', atMs: 0 });
      session.record({ type: 'model-message', run: 1, turn: 1, text, calls, reason });
      return session;
    };
    const called = begin('', [{ id: 'a', name: 'write', arguments: '{}' }]);
    const { outcomes } = await resumeRun({ model: playing([say('Ok.'), stop]), prompt, session: called }).result;
    expect(outcomes).toMatchObject([{ kind: 'truncated' }]);
    expect(called.read(notes).size).toBe(0);
    expect(await resumeRun({ model: playing(), prompt, session: begin('Half', []) }).result).toMatchObject({
      status: 'completed',
      text: 'Half',
      cut: reason,
    });
  },
);
