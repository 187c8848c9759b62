import type { PlanTrace } from '@holdfast/orchestrator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html } from './html.ts';
import { traceToHtml } from './page.ts';
import { style, styleHash } from './style.ts';
import { listElements, readPage, skeletonOf, type TestElement, textOf } from './test-html.ts';
import { begun, hostileTexts, partialTrace, randomTrace, type TestNode, traceFull, traceOf } from './test-traces.ts';

const pageOf = (...parameters: Parameters<typeof traceToHtml>): readonly TestElement[] =>
  listElements(readPage(traceToHtml(...parameters)));

function named(elements: readonly TestElement[], name: string): readonly TestElement[] {
  return elements.filter((element) => element.name === name);
}

function rowsOf(elements: readonly TestElement[]): readonly TestElement[] {
  return named(elements, 'tr').filter(({ attributes }) => attributes.has('id'));
}

test("the style sheet matches the page's policy", async () => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style));
  expect(styleHash).toBe(`sha256-${btoa(String.fromCharCode(...new Uint8Array(bytes)))}`);
  const [sheet] = named(pageOf(partialTrace), 'style');
  expect(sheet === undefined ? '' : textOf(sheet)).toBe(style);
  expect(style).not.toMatch(/[<>&]|url\(|@import|expression/u);
});

test('nothing is executed or fetched, and no link leaves the page', () => {
  const elements = pageOf(partialTrace);
  const policies = named(elements, 'meta').map(({ attributes }) => attributes.get('content'));
  expect(policies).toContain(`default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`);
  const names = new Set(elements.map(({ name }) => name));
  for (const name of ['script', 'link', 'img', 'iframe', 'object', 'form', 'base']) expect(names).not.toContain(name);
  const targets = elements.flatMap(({ attributes }) => attributes.get('href') ?? []);
  const ids = new Set(elements.flatMap(({ attributes }) => attributes.get('id') ?? []));
  for (const target of targets) expect(ids).toContain(target.replace(/^#/u, ''));
  expect(targets.every((target) => target.startsWith('#'))).toBe(true);
});

test('shows the request, the result and missing nodes', () => {
  const page = readPage(traceToHtml(partialTrace));
  const text = textOf(page);
  for (const shown of [
    'Compare the AI chip strategies of AMD and Intel',
    'partial: 3 of 4 nodes succeeded',
    'ab'.repeat(32),
    '2026-05-17 09:30:00.000 UTC',
    '21.4 s',
    '"path": "report.md"',
    '1 (search_news)',
    'The server answered 503. (tool.failed)',
    '[step 1 failed: The server answered 503.]',
    'allow by host/call-budget',
    'approved by ada@example.com',
    'ask by holdfast/dangerous: It writes a file.',
    '2026-05-17 09:30:02.200 UTC: The server answered 503. (tool.failed)',
    'on_fail continue, no retry, timeout 60 s',
  ]) {
    expect(text).toContain(shown);
  }
});

test('the request is the title; a plan without one has its number', () => {
  const titleOf = (trace: PlanTrace): string[] => {
    const elements = pageOf(trace);
    return [...named(elements, 'title').slice(0, 1), ...named(elements, 'h1')].map(textOf);
  };
  const request = 'Compare the AI chip strategies of AMD and Intel';
  expect(titleOf({ ...partialTrace, request })).toEqual([`${request}: partial`, request]);
  expect(titleOf({ ...partialTrace, request: undefined })).toEqual(['Plan run 12: partial', 'Plan run 12']);
});

test('a result in Markdown is drawn', () => {
  expect(named(pageOf({ ...partialTrace, output: '# Report\n\n- one' }), 'li').map(textOf)).toContain('one');
});

test('a node that was not called shows its planned inputs', () => {
  const text = textOf(readPage(traceToHtml(traceOf([{ id: 0, kind: 'skipped', input: undefined, inputs: { x: 1 } }]))));
  expect(text).toContain('Inputs as planned{\n  "x": 1\n}');
  expect(text).toContain('No node was called.');
});

test('the timeline marks failed attempts, waiting before the start, and waiting for a person', () => {
  const elements = pageOf(partialTrace);
  const bars = named(elements, 'rect').filter(({ attributes }) => attributes.get('class') === 'bar');
  expect(bars).toHaveLength(4);
  const titles = named(elements, 'title').map(textOf);
  expect(titles).toContain('1 (search_news): failed, from 0 ms to 4.1 s, 2 attempts failed before the last one');
  expect(titles).toContain('2 (summarise): ok, from 4.9 s to 6.1 s, waited 800 ms before starting');
  expect(titles).toContain('report (write_report): ok, from 6.1 s to 21.4 s, waited 14.4 s for a person');
  const classes = elements.map(({ attributes }) => attributes.get('class'));
  expect(classes.filter((name) => name === 'retry')).toHaveLength(2);
  expect(classes.filter((name) => name === 'wait')).toHaveLength(1);
  expect(classes.filter((name) => name === 'person')).toHaveLength(1);
  const ticks = elements.filter(({ attributes }) => attributes.get('class') === 'small').map(textOf);
  expect(ticks).toEqual(expect.arrayContaining(['0', '5 s', '10 s', '15 s', '20 s']));
});

test.each([
  { to: 1, ticks: ['0', '1 ms'] },
  { to: 40, ticks: ['0', '5 ms', '10 ms', '15 ms', '20 ms', '25 ms', '30 ms', '35 ms', '40 ms'] },
  { to: 7_200_000, ticks: ['0', '15 m 00 s', '30 m 00 s'] },
  { to: 3e9, ticks: ['0', '5 d 0 h'] },
])('the axis of $to ms has the ticks $ticks', ({ to, ticks }) => {
  const elements = pageOf(traceOf([{ id: 0, at: [0, to] }]));
  const labels = elements.filter(({ name, attributes }) => name === 'text' && attributes.get('y') === '16').map(textOf);
  expect(labels.length).toBeLessThanOrEqual(10);
  for (const tick of ticks) expect(labels).toContain(tick);
});

test('invalid times and times before the run do not break the scale', () => {
  const nodes: readonly TestNode[] = [
    { id: 0, at: [0, 20_000] },
    { id: 1, at: [4e15, 4e15 + 5] },
    { id: 2, at: [-3_000, 5] },
  ];
  const elements = pageOf(traceOf(nodes, { endedAtMs: begun + 20_000 }));
  const ticks = elements.filter(({ attributes }) => attributes.get('class') === 'small').map(textOf);
  expect(ticks).toContain('20 s');
  const bars = named(elements, 'rect').filter(({ attributes }) => attributes.get('class') === 'bar');
  expect(bars).toHaveLength(2);
  expect(rowsOf(elements).map(textOf)[2]).toContain('+0 ms');
});

test('inserted values are text, between elements and in attributes', () => {
  expect(html`<a title="${`&<>"'`}">${`&<>"'`}</a>`.text).toBe(
    '<a title="&#38;&#60;&#62;&#34;&#39;">&#38;&#60;&#62;&#34;&#39;</a>',
  );
});

test('boxes of nodes with similar long ids can be told apart', () => {
  const nodes = [7, 8].map((index) => ({ id: `summary_of_the_chapter_${index}`, tool: 'count_words' }));
  const labels = pageOf(traceOf(nodes)).filter(({ attributes }) => attributes.get('class') === 'name');
  expect(labels.map(textOf)).toEqual(['summ…ter_7 count_w…', 'summ…ter_8 count_w…']);
});

test('too many dependencies are shown as a list', () => {
  const nodes = Array.from(
    { length: 80 },
    (_, id): TestNode => ({ id, needs: Array.from({ length: id }, (_item, at) => at) }),
  );
  const elements = pageOf(traceOf(nodes));
  expect(elements.some(({ attributes }) => attributes.get('class') === 'edge')).toBe(false);
  expect(textOf(readPage(traceToHtml(traceOf(nodes))))).toContain('80 nodes and 3,160 dependencies: too many');
});

/** Numbers, our own words and our own paths: the allowed content of attributes. */
const harmless = /^(?:[\w #./:;,='()+-]*|sha256-[\w+/=]+)$/u;

test.each(hostileTexts)('%j is only text', (text) => {
  const hostile = readPage(traceToHtml(traceFull(text)));
  expect(skeletonOf(hostile)).toBe(skeletonOf(readPage(traceToHtml(traceFull('plain')))));
  for (const { attributes } of listElements(hostile)) {
    for (const [key, value] of attributes) {
      expect(key).not.toMatch(/^on|style/u);
      expect(value).toMatch(harmless);
    }
  }
  expect(textOf(hostile)).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\u2028\u2029\u202E\u2066]/u);
});

test('for any trace: a deterministic page with every node once, inside its drawings', () => {
  fc.assert(
    fc.property(randomTrace(), (trace) => {
      const page = traceToHtml(trace);
      const elements = listElements(readPage(page));
      expect(rowsOf(elements).map(({ attributes }) => attributes.get('id'))).toEqual(
        trace.nodes.map((_, index) => `node-${index}`),
      );
      expect(findOutside(elements)).toEqual([]);
      expect(traceToHtml(structuredClone(trace))).toBe(page);
    }),
  );
});

/** Boxes and bars outside their drawing. */
function findOutside(elements: readonly TestElement[]): readonly string[] {
  return named(elements, 'svg').flatMap((svg) => {
    const number = (element: TestElement, key: string): number => Number(element.attributes.get(key) ?? '0');
    const inside = listElements(svg).slice(1);
    return inside.flatMap((element) => {
      const isOutside = ['x', 'x1', 'x2'].some((key) => {
        const right = number(element, key) + (key === 'x' ? number(element, 'width') : 0);
        return !(number(element, key) >= 0 && right <= number(svg, 'width'));
      });
      return isOutside && element.name !== 'text' ? [skeletonOf(element)] : [];
    });
  });
}

const manyNodes = (count: number): readonly TestNode[] =>
  Array.from({ length: count }, (_, id) => ({ id, needs: id === 0 ? [] : [Math.floor(id / 3)], at: [id, id + 10] }));

test('up to 500 nodes are drawn; more are listed, with a note', () => {
  const drawn = pageOf(traceOf(manyNodes(500)));
  const boxes = drawn.filter(({ attributes }) => attributes.get('class')?.startsWith('box') === true);
  expect(boxes).toHaveLength(500);
  const listed = readPage(traceToHtml(traceOf(manyNodes(501))));
  expect(textOf(listed)).toContain('501 nodes and 500 dependencies: too many to draw');
  expect(textOf(listed)).toContain('The 500 nodes that took longest; 1 more node not shown.');
});

test('the page grows linearly with thousands of nodes', () => {
  const small = traceToHtml(traceOf(manyNodes(200))).length;
  const trace = traceOf(manyNodes(2_000));
  const page = traceToHtml(trace);
  expect(rowsOf(listElements(readPage(page)))).toHaveLength(2_000);
  expect(page.length).toBeLessThan(10.5 * small);
});

test('large values and long lists are cut with a note; the trace is unchanged', () => {
  const trace = traceOf([
    {
      id: 0,
      at: [0, 1],
      value: 'x'.repeat(12_345),
      decisions: Array.from({ length: 60 }, (_, index) => ({ policy: `host/p${index}`, type: 'allow' })),
    },
  ]);
  const before = structuredClone(trace);
  const text = textOf(readPage(traceToHtml(trace)));
  expect(text).toContain('2,345 more characters not shown.');
  expect(text).toContain('10 more not shown.');
  expect(trace).toEqual(before);
});

test('pending questions are shown with their call and expiry', () => {
  const trace = traceOf([{ id: 0, kind: 'suspended', at: [0, 5] }], {
    status: 'suspended',
    pending: [
      {
        callId: 'plan_12_0',
        name: 'a',
        input: {},
        dangerous: true,
        asks: [{ policy: 'holdfast/dangerous', type: 'ask', reason: 'It deletes files.' }],
        digest: '',
        toolDigest: '',
        expiresAtMs: begun,
      },
    ],
  });
  const text = textOf(readPage(traceToHtml(trace)));
  expect(text).toContain('Call plan_12_0 of a, until 2026-05-17 09:30:00.000 UTC');
  expect(text).toContain('ask by holdfast/dangerous: It deletes files.');
  expect(text).toContain('Waiting for 1 approval');
});
