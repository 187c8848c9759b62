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

test.each([native, text])('a written state is read back unchanged', (state) => {
  const read = reactState.read(structuredClone(state), 'sum');
  expect(reactState.write(read)).toEqual(state);
  expect(read.conversation.history).toEqual(conversation.history);
  // As the call path creates it, although JSON drops it.
  expect(Object.hasOwn(read.course.calls[0]?.outcome ?? {}, 'code')).toBe(true);
});

const invalid = expect.objectContaining({ code: 'modules.invalid', reason: 'state' });

function withMessage(message: JsonObject): JsonObject {
  return { ...native, conversation: { start: [], rounds: [[message]], leftOut: 0 } };
}

test('input of maximum depth is read back', () => {
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
  ['of a different loop than its calls', { ...native, loop: 8 }],
  ['of a different round than its calls', { ...native, course: { ...course, calls: [], iterations: 2 } }],
  ['without a waiting turn', { ...native, turn: null }],
  ['of another protocol', { ...native, protocol: 'text' }],
  ['of an unknown protocol', { ...text, protocol: 'none' }],
  ['with more ended calls than calls', { ...native, turn: { calls: [call], done: 2, overspent: false } }],
  [
    'with a message of an unknown role',
    { ...native, conversation: { start: [{ role: 'host', text: '' }], rounds: [], leftOut: 0 } },
  ],
  ['with a call without a name', { ...native, turn: { calls: [{ ...call, name: 1 }], done: 0, overspent: false } }],
  ['with a step without text', { ...text, steps: [{ thought: 1 }] }],
  ['of a different round than its step', { ...text, course: { ...course, iterations: 2 } }],
  ['that left out all rounds', { ...native, conversation: { ...conversation.toJSON(), leftOut: 1 } }],
  ['with an invalid number of requests', { ...native, course: { ...course, requests: -1 } }],
  ['with invalid outputs', { ...native, course: { ...course, partial: [] } }],
  ['with an answer to a call without its status', withMessage({ role: 'tool', text: '', callId: 'a', name: 'gold' })],
  ['with a call without arguments', withMessage({ role: 'assistant', text: '', calls: [{ id: 'a', name: 'gold' }] })],
  ['that is not JSON', { ...native, input: { now: new Date() } }],
])('a state %s is rejected', (_, state) => {
  expect(() => reactState.read(state, 'sum')).toThrow(invalid);
});

test('any mutation of a state is read or rejected', () => {
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
