import { HoldfastError } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createColors } from './colors.ts';
import { formatFailure, toExitCode, usageError } from './failure.ts';

const colors = createColors(false);

test('message, code and hint, and no stack', () => {
  const error = new HoldfastError('tool.bad', 'Bad \x1b[2J.', {
    data: { hint: 'Try again.' },
    cause: new Error('why'),
  });
  expect(formatFailure(error, { colors, debug: false })).toBe('error: Bad \\x1b[2J. (tool.bad)\n  hint: Try again.\n');
});

test('stacks, also of causes, for debugging', () => {
  const text = formatFailure(new HoldfastError('a.b', 'Outer.', { cause: new Error('inner') }), {
    colors,
    debug: true,
  });
  expect(text).toContain('failure.test.ts');
  expect(text).toContain('Error: inner');
});

test.each([
  { thrown: null, text: 'error: a thrown null\n' },
  { thrown: new Error('plain'), text: 'error: plain\n' },
])('$text for any thrown value', ({ thrown, text }) => {
  expect(formatFailure(thrown, { colors, debug: false })).toBe(text);
});

test.each([
  { thrown: usageError('folder_missing', 'No folder.'), code: 2 },
  { thrown: new HoldfastError('log.unreadable', 'No.'), code: 1 },
  { thrown: new HoldfastError('config.invalid', 'No.'), code: 2 },
  { thrown: new HoldfastError('run.config.changed', 'No.'), code: 2 },
  { thrown: new HoldfastError('registry.invalid', 'No.', { data: { reason: 'name.conflict' } }), code: 2 },
  { thrown: new HoldfastError('plugin.package.failed', 'No.', { data: { reason: 'missing' } }), code: 2 },
  { thrown: new HoldfastError('pack.invalid', 'No.', { data: { reason: 'config' } }), code: 2 },
  { thrown: new HoldfastError('policy.invalid', 'No.', { data: { reason: 'tool.unknown' } }), code: 2 },
  { thrown: new HoldfastError('work.not_open', 'No.', { data: { reason: 'run' } }), code: 1 },
  { thrown: new Error('usage.x'), code: 1 },
])('exit code $code', ({ thrown, code }) => {
  expect(toExitCode(thrown)).toBe(code);
});
