import { expect, test } from 'vitest';
import { createTestHost } from '../testing/test-host.ts';
import { createCompileView } from './view.ts';

const answered = { type: 'planner-answered', round: 1, text: '', usage: undefined, warnings: [] } as const;
const wrong = { code: 'plan.x', path: '', message: 'm' };

test('planner events are printed one per line', () => {
  const { host, stderr } = createTestHost();
  const view = createCompileView('m\x1b[1model', host);
  view({ type: 'planner-asked', round: 1 });
  view({ type: 'planner-failed', round: 1, message: 'It is\nbusy.' });
  view({ ...answered, violations: [wrong, wrong] });
  view({ type: 'planner-asked', round: 2 });
  view({ ...answered, round: 2, violations: [] });
  expect(stderr().split('\n')).toEqual([
    'asking m\\x1b[1model for a plan',
    'm\\x1b[1model failed: It is\\nbusy.',
    'the plan of m\\x1b[1model has 2 problems: asking again',
    '',
  ]);
});
