import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { TodoPlan } from './plan.ts';
import { renderPlan } from './render-plan.ts';

const plan: TodoPlan = {
  objective: 'Release 1.2.0',
  status: 'active',
  steps: [
    { step_id: 1, title: 'Lint', status: 'done' },
    { step_id: 2, title: 'Build', status: 'in_progress' },
    { step_id: 3, title: 'Deploy', status: 'pending' },
  ],
};

test('renders a checklist with counts, without color by default', () => {
  const text = ['Plan  Release 1.2.0  active, 1/3 done', '  [x] 1. Lint', '  [>] 2. Build', '  [ ] 3. Deploy'].join(
    '\n',
  );
  expect(renderPlan(plan)).toBe(text);
  expect(renderPlan(plan, { color: false })).toBe(text);
});

test('color changes no characters', () => {
  const text = renderPlan(plan, { color: true });
  expect(text).toBe(
    [
      '\x1b[1mPlan\x1b[0m  Release 1.2.0  \x1b[2mactive, 1/3 done\x1b[0m',
      '  \x1b[2m[x] 1. Lint\x1b[0m',
      '  \x1b[33m[>] 2. Build\x1b[0m',
      '  [ ] 3. Deploy',
    ].join('\n'),
  );
  expect(stripVTControlCharacters(text)).toBe(renderPlan(plan));
});

test('renders an empty and a completed plan', () => {
  expect(renderPlan({ objective: 'Ship', status: 'active', steps: [] })).toBe('Plan  Ship  active, 0/0 done');
  const steps = [{ step_id: 1, title: 'Lint', status: 'done' }] as const;
  expect(renderPlan({ objective: 'Ship', status: 'completed', steps })).toBe(
    'Plan  Ship  completed, 1/1 done\n  [x] 1. Lint',
  );
});

test('ids are right-aligned', () => {
  const steps = Array.from({ length: 10 }, (_, index) => ({ step_id: index + 1, title: 'A', status: 'done' as const }));
  const lines = renderPlan({ objective: 'Ship', status: 'completed', steps }).split('\n');
  expect([lines[1], lines[10]]).toEqual(['  [x]  1. A', '  [x] 10. A']);
});

test.each([
  { title: 'a\x1b[2Jb', shown: 'a\\x1b[2Jb' },
  { title: 'a\nb\r\tc', shown: 'a\\nb\\r\\tc' },
  { title: 'a\u202eb\u200bc\u2028d', shown: 'a\\u{202e}b\\u{200b}c\\u{2028}d' },
  { title: 'a\u{e0041}b\ud800c', shown: 'a\\u{e0041}b\\u{d800}c' },
  { title: 'naïve ❤\ufe0f 漢字', shown: 'naïve ❤\ufe0f 漢字' },
])('control characters are escaped: $shown', ({ title, shown }) => {
  const hostile: TodoPlan = { objective: title, status: 'active', steps: [{ step_id: 1, title, status: 'pending' }] };
  for (const color of [false, true]) {
    const [head, line] = renderPlan(hostile, { color }).split('\n');
    expect(head).toContain(`  ${shown}  `);
    expect(line).toBe(`  [ ] 1. ${shown}`);
  }
});
