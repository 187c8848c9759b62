import type { FeedbackProvider } from '@holdfast/core';
import type { GuidanceContext } from '@holdfast/core/types';
import { expect, test } from 'vitest';
import { deadlineFeedback, everyCalls, everySeconds, fileCreated, staticFeedback, takeFeedback } from './feedback.ts';
import { guidanceContext } from './test-guidance.ts';

const invalid = expect.objectContaining({ code: 'prompt.invalid', reason: 'feedback' });

function leaving(remainingMs: number): GuidanceContext {
  return guidanceContext({ deadline: { atMs: 1_000 + remainingMs, remainingMs: () => remainingMs } });
}

test('static feedback is the same text each time', () => {
  const provider = staticFeedback({ name: 'tests', text: ' Run the tests.\n', triggers: [everyCalls(3)] });
  expect(provider.triggers).toEqual([{ type: 'calls', every: 3 }]);
  expect(provider.provide(guidanceContext())).toBe('Run the tests.');
  expect(provider.provide(guidanceContext({ calls: 9 }))).toBe('Run the tests.');
});

test('what a provider was made of may be changed afterwards', () => {
  const triggers = [everyCalls(3)];
  const provider = staticFeedback({ name: 'tests', text: 'Run the tests.', triggers });
  triggers.push(everyCalls(4));
  expect(provider.triggers).toEqual([{ type: 'calls', every: 3 }]);
  expect(Object.isFrozen(provider)).toBe(true);
});

test('K12: without a deadline nothing is said of it', () => {
  const provider = deadlineFeedback({ triggers: [everySeconds(60)] });
  expect(provider.name).toBe('deadline');
  expect(provider.provide(guidanceContext())).toBeUndefined();
});

const hurry = ' Finish what you are doing and give your answer.';

test.each([
  { leftMs: 7_384_000, text: 'You have 2 hours 3 minutes left.' },
  { leftMs: 3_600_000, text: 'You have 1 hour left.' },
  { leftMs: 3_605_000, text: 'You have 1 hour left.' },
  { leftMs: 121_999, text: 'You have 2 minutes 1 second left.' },
  { leftMs: 120_001, text: 'You have 2 minutes left.' },
  { leftMs: 120_000, text: `You have 2 minutes left.${hurry}` },
  { leftMs: 59_999, text: `You have 59 seconds left.${hurry}` },
  { leftMs: 999, text: `You have less than a second left.${hurry}` },
  { leftMs: 0, text: `You have less than a second left.${hurry}` },
])('$leftMs ms before the end: $text', ({ leftMs, text }) => {
  expect(deadlineFeedback({ triggers: [everyCalls(1)] }).provide(leaving(leftMs))).toBe(text);
});

test('from when on it is urgent is the host’s to say', () => {
  const provider = deadlineFeedback({ name: 'half-an-hour', triggers: [everyCalls(1)], urgentMs: 1_800_000 });
  expect(provider.name).toBe('half-an-hour');
  expect(provider.provide(leaving(1_800_000))).toBe(`You have 30 minutes left.${hurry}`);
  expect(provider.provide(leaving(1_801_000))).toBe('You have 30 minutes 1 second left.');
});

test.each([
  ['no calls', () => everyCalls(0)],
  ['half a call', () => everyCalls(1.5)],
  ['no seconds', () => everySeconds(0)],
  ['endless seconds', () => everySeconds(Number.POSITIVE_INFINITY)],
  ['seconds that are none', () => everySeconds(Number.NaN)],
  ['a file without a name', () => fileCreated('')],
  ['a text without a word', () => staticFeedback({ name: 'tests', text: ' \n', triggers: [] })],
  ['a bad name', () => staticFeedback({ name: 'Run tests', text: 'Run.', triggers: [] })],
  ['an urgency that is none', () => deadlineFeedback({ triggers: [], urgentMs: Number.NaN })],
  ['a negative urgency', () => deadlineFeedback({ triggers: [], urgentMs: -1 })],
])('%s is refused', (_, make) => {
  expect(make).toThrow(invalid);
});

test('seconds may be parts of one, and a provider without triggers (K08) is fine', () => {
  expect(everySeconds(0.5)).toEqual({ type: 'seconds', every: 0.5 });
  expect(fileCreated('a/b.txt')).toEqual({ type: 'file-created', path: 'a/b.txt' });
  expect(() => takeFeedback([staticFeedback({ name: 'never', text: 'Never.', triggers: [] })])).not.toThrow();
});

function own(changes: object): FeedbackProvider {
  // As untyped code may pass.
  return { name: 'own', triggers: [], provide: () => 'Yes.', ...changes } as FeedbackProvider;
}

test.each([
  { what: 'a name in capitals', provider: own({ name: 'Own' }), says: '`Own`: the name must be' },
  { what: 'an empty name', provider: own({ name: '' }), says: 'the name must be' },
  { what: 'no name', provider: own({ name: undefined }), says: '`undefined`: the name must be' },
  { what: 'a name with an edge of `-`', provider: own({ name: 'own-' }), says: 'the name must be' },
  { what: 'a long name', provider: own({ name: 'o'.repeat(65) }), says: 'the name must be' },
  { what: 'triggers that are not a list', provider: own({ triggers: {} }), says: '`triggers` must be a list' },
  { what: 'a trigger that is nothing', provider: own({ triggers: [null] }), says: 'its type must be' },
  { what: 'a trigger of another type', provider: own({ triggers: [{ type: 'turns' }] }), says: 'its type must be' },
  { what: 'a trigger that never fires', provider: own({ triggers: [{ type: 'calls', every: 0 }] }), says: 'got 0' },
  { what: 'a file that is none', provider: own({ triggers: [{ type: 'file-created', path: 1 }] }), says: '`path`' },
  { what: 'nothing to ask', provider: own({ provide: 'Yes.' }), says: '`provide` must be a function' },
])('a provider of one’s own with $what is refused', ({ provider, says }) => {
  expect(() => takeFeedback([provider])).toThrow(invalid);
  expect(() => takeFeedback([provider])).toThrow(says);
});

test('two providers of one name are refused, and longer names are fine', () => {
  expect(() => takeFeedback([own({}), own({ name: 'own-2' }), own({ name: 'o'.repeat(64) })])).not.toThrow();
  expect(() => takeFeedback([own({}), own({ name: 'other' }), own({})])).toThrow(
    '`own`: the name is used twice in the prompt',
  );
});
