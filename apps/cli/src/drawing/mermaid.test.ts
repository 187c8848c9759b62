import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planToMermaid } from './mermaid.ts';
import { hostileTexts, partialTrace, randomTrace, traceFull, traceOf } from './test-traces.ts';

const label = String.raw`(?:[\p{L}\p{M}\p{N} ,]|[A-Za-z0-9][-._](?=[A-Za-z0-9])|#\d+;|<br/>)*`;
const line = new RegExp(
  [
    String.raw`  n\d+\["${label}"\]`,
    String.raw`  n\d+\[\["${label}"\]\]`,
    String.raw`  n\d+ --> n\d+`,
    '  classDef (?:ok|bad|doubt|skipped|open) [a-z0-9:#,]+',
    String.raw`  class n\d+(?:,n\d+)* (?:ok|bad|doubt|skipped|open)`,
  ]
    .map((pattern) => `(?:^${pattern}$)`)
    .join('|'),
  'u',
);

/** The ids of the nodes of a chart, after checking that it contains nothing unexpected. Mermaid 11 renders each hostile text unchanged. */
function readChart(chart: string): readonly (string | undefined)[] {
  const [head, ...lines] = chart.split('\n');
  expect(head).toBe('flowchart TD');
  expect(lines.pop()).toBe('');
  for (const text of lines) expect(text).toMatch(line);
  return lines.filter((text) => text.includes('["')).map((text) => /n\d+/.exec(text)?.[0]);
}

test('a plan has its nodes with their purposes, and an edge per dependency', () => {
  expect(planToMermaid(partialTrace.plan)).toBe(
    [
      'flowchart TD',
      '  n0["0 search_news<br/>Latest news on AMD"]',
      '  n1["1 search_news<br/>Latest news on Intel"]',
      '  n2["2 summarise<br/>Compare the two"]',
      '  n3[["report write_report<br/>What the reader gets"]]',
      '  n0 --> n2',
      '  n1 --> n2',
      '  n2 --> n3',
      '',
    ].join('\n'),
  );
});

test('with a trace, nodes have outcome and duration, and are colored by outcome', () => {
  const chart = planToMermaid(partialTrace.plan, partialTrace);
  expect(chart).toContain('  n1["1 search_news<br/>Latest news on Intel<br/>failed 4.1 s"]');
  expect(chart).toMatch(/^ {2}class n0,n2,n3 ok$/mu);
  expect(chart).toMatch(/^ {2}class n1 bad$/mu);
  expect(chart).not.toContain('classDef open');
  const skipped = traceOf([{ id: 0, kind: 'skipped' }]);
  expect(planToMermaid(skipped.plan, skipped)).toContain('  n0[["0 a<br/>skipped"]]\n  classDef skipped');
});

test.each(hostileTexts)('%j is text', (text) => {
  const trace = traceFull(text);
  expect(readChart(planToMermaid(trace.plan, trace))).toEqual(['n0', 'n1']);
});

test.each([
  { text: 'end', shown: 'end' },
  { text: 'a "b" [c]', shown: 'a #34;b#34; #91;c#93;' },
  { text: '<b>', shown: '#60;b#62;' },
  { text: 'a\nb', shown: 'a b' },
  { text: '\u202E', shown: '#92;u#123;202e#125;' },
  { text: '1. one', shown: '1#46; one' },
  { text: 'v1.2-rc_1', shown: 'v1.2-rc_1' },
  { text: '#35;', shown: '#35;35#59;' },
  { text: '👩', shown: '#128105;' },
  { text: 'x'.repeat(90), shown: `${'x'.repeat(80)}#8230;` },
])('$text is written as $shown', ({ text, shown }) => {
  expect(planToMermaid(traceOf([{ id: 0, purpose: text }]).plan)).toContain(`<br/>${shown}"]]`);
});

test('a dependency on a missing node has no edge', () => {
  expect(planToMermaid(traceOf([{ id: 0, needs: ['nowhere'] }]).plan)).not.toContain('-->');
});

test('for any trace: a deterministic chart with every node once', () => {
  fc.assert(
    fc.property(randomTrace(), (trace) => {
      const chart = planToMermaid(trace.plan, trace);
      expect(readChart(chart)).toEqual(trace.nodes.map((_, index) => `n${index}`));
      expect(planToMermaid(structuredClone(trace.plan), structuredClone(trace))).toBe(chart);
    }),
  );
});
