import { stripVTControlCharacters } from 'node:util';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createTestHost } from '../testing/test-host.ts';
import { createCompileView } from './view.ts';

const answered = { type: 'planner-answered', round: 1, text: '', usage: undefined, warnings: [] } as const;
const wrong = { code: 'plan.x', path: '', message: 'm' };

test('without a terminal there is a line for each thing that happens', () => {
  const { host, stderr } = createTestHost();
  const view = createCompileView('m\x1b[1model', host);
  view.show({ type: 'planner-asked', round: 1 });
  view.show({ type: 'planner-failed', round: 1, message: 'It is\nbusy.' });
  view.show({ ...answered, violations: [wrong, wrong] });
  view.show({ type: 'planner-asked', round: 2 });
  view.show({ ...answered, round: 2, violations: [] });
  view.close();
  expect(stderr().split('\n')).toEqual([
    'asking m\\x1b[1model for a plan',
    'm\\x1b[1model could not be asked: It is\\nbusy.',
    '2 things wrong with the plan of m\\x1b[1model: asking again',
    '',
  ]);
});

test('on a terminal a line counts the time, and goes away', () => {
  const clock = manualClock();
  const { host, stderr } = createTestHost({ terminals: ['stderr'], clock, environment: { NO_COLOR: '1' } });
  const view = createCompileView('model', host);
  view.show({ type: 'planner-asked', round: 1 });
  clock.advance(1500);
  expect(stripVTControlCharacters(stderr())).toContain('asking model for a plan  1.5 s');
  view.show({ ...answered, violations: [wrong] });
  view.show({ type: 'planner-asked', round: 2 });
  expect(stripVTControlCharacters(stderr())).toContain('asking model for a plan, round 2  0 ms');
  view.close();
  view.close();
  expect(clock.pending).toBe(0);
});
