import type { JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Conversation } from './conversation.ts';
import { reactState } from './state.ts';

const call = { id: 'a', callId: 'loop_7_0_0', name: 'gold', args: { player: 1 } };
const outcome = { kind: 'ok', callId: 'loop_7_0_1', name: 'gold', message: '', value: 1, rendered: '1', text: '1' };
const course = {
  iterations: 1,
  requests: 2,
  usage: { inputTokens: 3, outputTokens: 4 },
  calls: [
    { id: 'b', name: 'gold', args: '{}', text: '1', outcome: { ...outcome, kind: 'ok' as const, code: undefined } },
  ],
  partial: {},
};
const conversation = new Conversation(
  [{ role: 'system', text: 'Do it.' }],
  [[{ role: 'assistant', text: '', calls: [{ id: 'a', name: 'gold', arguments: '{}' }] }]],
);
const common = { signature: 'sum', loop: 7, input: { words: 'a b' }, course, conversation };
const native = reactState.write({ ...common, protocol: 'native', turn: { calls: [call], done: 1, overspent: false } });
const text = reactState.write({
  ...common,
  protocol: 'text',
  steps: [],
  turn: { calls: [call], thought: '', overspent: false },
});

test.each([native, text])('what is written is read as it was', (state) => {
  const read = reactState.read(structuredClone(state), 'sum');
  expect(reactState.write(read)).toEqual(state);
  expect(read.conversation.history).toEqual(conversation.history);
  // As a call path makes it, although JSON has left it out.
  expect(Object.hasOwn(read.course.calls[0]?.outcome ?? {}, 'code')).toBe(true);
});

const invalid = expect.objectContaining({ code: 'modules.state_invalid' });

function withMessage(message: JsonObject): JsonObject {
  return { ...native, conversation: { start: [], rounds: [[message]], leftOut: 0 } };
}

test('input that is nested as deep as it may be is read again', () => {
  let words: JsonObject = {};
  for (let depth = 1; depth < 62; depth += 1) words = { words };
  expect(reactState.read({ ...native, input: { words } }, 'sum').input).toEqual({ words });
});

test.each<[title: string, state: unknown]>([
  ['nothing', undefined],
  ['text', 'state'],
  ['of another kind of loop', { ...native, type: 'tool-loop' }],
  ['of another version', { ...native, version: 2 }],
  ['of another signature', { ...native, signature: 'other' }],
  ['of another loop than its calls', { ...native, loop: 8 }],
  ['of another round than its calls', { ...native, course: { ...course, calls: [], iterations: 2 } }],
  ['without what waits', { ...native, turn: null }],
  ['of another protocol', { ...native, protocol: 'text' }],
  ['of no protocol', { ...text, protocol: 'none' }],
  ['with more calls ended than there are', { ...native, turn: { calls: [call], done: 2, overspent: false } }],
  [
    'with a message of nobody',
    { ...native, conversation: { start: [{ role: 'host', text: '' }], rounds: [], leftOut: 0 } },
  ],
  ['with a call of no name', { ...native, turn: { calls: [{ ...call, name: 1 }], done: 0, overspent: false } }],
  ['with a step of no text', { ...text, steps: [{ thought: 1 }] }],
  ['of another round than its step', { ...text, course: { ...course, iterations: 2 } }],
  ['that has left out all there is', { ...native, conversation: { ...conversation.toJSON(), leftOut: 1 } }],
  ['that does not count its requests', { ...native, course: { ...course, requests: -1 } }],
  ['whose outputs are none', { ...native, course: { ...course, partial: [] } }],
  [
    'with an answer to a call that says not how it went',
    withMessage({ role: 'tool', text: '', callId: 'a', name: 'gold' }),
  ],
  ['with a call of no arguments', withMessage({ role: 'assistant', text: '', calls: [{ id: 'a', name: 'gold' }] })],
  ['that is no JSON', { ...native, input: { now: new Date() } }],
])('a state %s is refused', (_, state) => {
  expect(() => reactState.read(state, 'sum')).toThrow(invalid);
});

test('whatever is in place of a part of it, it is read or refused', () => {
  const paths = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
    typeof value === 'object' && value !== null
      ? [path, ...Object.entries(value).flatMap(([key, inner]) => paths(inner, [...path, key]))]
      : [path];
  const replace = (value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown => {
    if (key === undefined) return by;
    const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
    const inner = (copy as Record<string, unknown>)[key];
    (copy as Record<string, unknown>)[key] = replace(inner, rest, by);
    return copy;
  };
  const cases = [native, text].flatMap((state) => paths(state).map((path) => ({ state, path })));
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.jsonValue(), ({ state, path }, by) => {
      try {
        const read = reactState.read(replace(state, path, by), 'sum');
        expect(read.conversation.sent.length).toBeGreaterThanOrEqual(0);
      } catch (thrown) {
        expect(thrown).toEqual(invalid);
      }
    }),
    { numRuns: 80 },
  );
});
