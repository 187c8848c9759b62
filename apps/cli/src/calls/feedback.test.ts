import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { formatFeedback, formatUnfinished } from './feedback.ts';

const style = { colors: createColors(false), columns: 60 };

test('feedback with its provider, and failed providers; control characters are escaped', () => {
  const given = [
    { name: 'each', text: 'Look at the plan.\nThen go on.\n' },
    { name: 'esc\u001b[2J', text: 'red \u001b[31m' },
  ];
  const failed = [{ name: 'deadline', message: 'no clock' }];
  const lines = formatFeedback({ type: 'feedback', given, failed }, style);
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "  each: Look at the plan.
          | Then go on.
      esc\\x1b[2J: red \\x1b[31m
      deadline failed: no clock"
  `);
  expect(formatFeedback({ type: 'feedback', given: [], failed: [] }, style)).toEqual([]);
});

test('unfinished work is reported at the end', () => {
  expect(formatUnfinished(undefined, style)).toEqual([]);
  expect(formatUnfinished('Two steps are open.\n', style)).toEqual(['Not finished: Two steps are open.']);
});
