import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { formatDifferences, formatStates, listStates, type OverrideState, toPatch } from './view.ts';

const style = { colors: createColors(false), columns: 60, title: 'acme/support, latest: latest.json' };

function state(given: Partial<OverrideState>): OverrideState {
  return {
    section: 'guide',
    part: 'body',
    state: 'applied',
    edited: true,
    current: 'One.\nTwo.',
    hash: 'abc',
    override: 'One.\n2.',
    ...given,
  };
}

const { section: _section, ...noPlace } = state({});
const everything: readonly OverrideState[] = [
  state({}),
  state({ part: 'summary', edited: false }),
  state({ state: 'stale', why: 'the prompt says something else there now' }),
  state({ state: 'stale', part: 'summary', hash: null, why: 'the prompt has nothing there any more' }),
  state({ state: 'stale', part: 'visibility', edited: false, why: 'the prompt says something else there now' }),
  { ...noPlace, tool: 'gone\u001b[2J', part: 'parameters.q', state: 'unknown', why: 'the prompt has no such tool' },
  { ...noPlace, part: 'document', state: 'invalid', current: null, override: null, why: 'it is not\u001b[2J JSON' },
];

test('each edited or left-out override has a line, with a wrapped reason', () => {
  expect(formatStates(everything, style)).toBe(`acme/support, latest: latest.json

applied section guide, body
stale   section guide, body
        the prompt says something else there now. To keep
        the override, pin it to abc.
stale   section guide, summary
        the prompt has nothing there any more. To keep the
        override, pin it to null.
stale   section guide, visibility
        the prompt says something else there now.
unknown tool gone\\x1b[2J, parameters.q
        the prompt has no such tool.
invalid document
        it is not\\x1b[2J JSON.

1 applied, 2 stale, 1 unknown, 1 invalid; 2 not edited since seeding
`);
  expect(formatStates([], style)).toBe(
    'acme/support, latest: latest.json\n\n0 applied, 0 stale, 0 unknown, 0 invalid; 0 not edited since seeding\n',
  );
});

test('lists the whole report, overrides in force first', () => {
  const { state: _state, ...override } = state({});
  const skipped = { ...override, why: 'so' };
  const states = listStates({ applied: [override], stale: [skipped], unknown: [skipped], invalid: [skipped] });
  expect(states.map(({ state: name, why }) => [name, why])).toEqual([
    ['applied', undefined],
    ['stale', 'so'],
    ['unknown', 'so'],
    ['invalid', 'so'],
  ]);
});

test.each([
  {
    name: 'a text',
    given: {},
    patch: '--- section guide, body (prompt)\n+++ section guide, body (override)\n@@ -1,2 +1,2 @@\n One.\n-Two.\n+2.\n',
  },
  {
    name: 'a seeded text that changed in the prompt',
    given: { state: 'stale' as const, edited: false, current: 'New.', override: 'Old.' },
    patch: '--- section guide, body (seeded)\n+++ section guide, body (prompt)\n@@ -1,1 +1,1 @@\n-Old.\n+New.\n',
  },
  {
    name: 'a value',
    given: { part: 'visibility', current: 'full', override: 'summary' },
    patch:
      '--- section guide, visibility (prompt)\n+++ section guide, visibility (override)\n@@ -1,1 +1,1 @@\n-full\n+summary\n',
  },
  {
    name: 'a list',
    given: { part: 'taskExamples', current: [1, { a: 1 }], override: [1] },
    patch:
      '--- section guide, taskExamples (prompt)\n+++ section guide, taskExamples (override)\n@@ -1,6 +1,3 @@\n [\n-  1,\n-  {\n-    "a": 1\n-  }\n+  1\n ]\n',
  },
  {
    name: 'an addition',
    given: { part: 'summary', current: null, override: 'New.' },
    patch: '--- section guide, summary (prompt)\n+++ section guide, summary (override)\n@@ -0,0 +1,1 @@\n+New.\n',
  },
  {
    name: 'control characters',
    given: { section: 'a\nb', current: 'a\u001b[2J', override: 'a\u202eb\tc' },
    patch:
      '--- section a\\nb, body (prompt)\n+++ section a\\nb, body (override)\n@@ -1,1 +1,1 @@\n-a\\x1b[2J\n+a\\u{202e}b\tc\n',
  },
  {
    name: 'a text that the prompt does not have',
    given: { state: 'unknown' as const, current: null },
    patch: undefined,
  },
  { name: 'nothing', given: { state: 'invalid' as const, current: null, override: null }, patch: undefined },
])('a unified diff of $name', ({ given, patch }) => {
  expect(toPatch(state(given))).toBe(patch);
});

test('large unrelated texts are not compared for long', () => {
  const lines = (word: string) => Array.from({ length: 50_000 }, (_, index) => `${word} ${index}`).join('\n');
  const patch = toPatch(state({ current: lines('old'), override: lines('new') }))?.split('\n') ?? [];
  expect(patch).toHaveLength(100_003);
  expect(patch.slice(0, 3)).toEqual([
    '--- section guide, body (prompt)',
    '+++ section guide, body (override)',
    '-old 0',
  ]);
  expect(patch.slice(-2)).toEqual(['+new 49999', '']);
  expect(patch[50_001]).toBe('-old 49999');
});

test('each difference has a head and colors', () => {
  expect(formatDifferences([], style)).toBe('acme/support, latest: latest.json\n\nNothing differs from the prompt.\n');
  const shown = formatDifferences([state({ override: '--\n2.' }), ...everything.slice(-1)], style);
  expect(shown).toBe(`acme/support, latest: latest.json

applied section guide, body
--- section guide, body (prompt)
+++ section guide, body (override)
@@ -1,2 +1,2 @@
-One.
-Two.
+--
+2.

invalid document: it is not\\x1b[2J JSON
`);
  const colored = formatDifferences([state({ override: '--\n2.' })], { ...style, colors: createColors(true) });
  expect(colored).toContain('\u001b[32m+--\u001b[39m\n\u001b[32m+2.\u001b[39m');
  expect(colored).toContain('\u001b[31m-One.\u001b[39m');
  expect(colored).toContain('\u001b[36m@@');
});
