import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { PlanEvent } from '@holdfast/orchestrator';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createJsonView, createLiveView, createPlainView } from '../run/view.ts';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { callEnd } from '../testing/test-events.ts';
import { endedNode, nodeTrace, planStart } from '../testing/test-plan-events.ts';
import { createPlanTelling } from './node-line.ts';

const colors = createColors(false);
const style = { colors, columns: 80 };
const free = { colors, columns: Number.POSITIVE_INFINITY };
const start = (node: string | number, atMs = 0): PlanEvent => ({
  type: 'node-start',
  node,
  callId: `plan_1_${node}`,
  atMs,
});
const end = (node: ReturnType<typeof nodeTrace>): PlanEvent => ({ type: 'node-end', node, atMs: 0 });

function show(events: readonly PlanEvent[]): readonly string[] {
  let written = '';
  const view = createPlainView((text) => {
    written += text;
  }, createPlanTelling(free));
  for (const event of events) view.show(event);
  view.close();
  return written.split('\n').slice(0, -1);
}

test('the plain view has a line per ended node, with the reason of a failure', () => {
  const events = [
    planStart([nodeTrace('news'), nodeTrace('report'), nodeTrace('send'), nodeTrace('late')]),
    start('news'),
    end(endedNode('news', { input: { query: 'tulips' }, decisions: [{ policy: 'host/a', type: 'allow' }] })),
    end(endedNode('report', { kind: 'failed', code: 'tool.failed', message: 'No \x1b[31mroom', attempts: 3 })),
    end(nodeTrace('send', { kind: 'skipped', tool: 'mail', code: 'plan.dependency.failed', because: ['report'] })),
    end(nodeTrace('late', { kind: 'suspended', tool: 'wipe', callId: 'plan_1_late', input: {} })),
  ];
  expect(show(events)).toEqual([
    '  ok        news          fetch {"query":"tulips"}  allow  100 ms',
    '  failed    report        fetch {}  3 attempts  100 ms',
    '            | No \\x1b[31mroom (tool.failed)',
    '  skipped   send          mail',
    '            | because of report (plan.dependency.failed)',
    '  suspended late          wipe {}',
    '            | waiting for an answer',
  ]);
});

test('the first two lines of a result are shown under its node', () => {
  const shown = show([
    planStart([nodeTrace('a'), nodeTrace('b'), nodeTrace('c')]),
    callEnd('ok', { callId: 'plan_1_a', message: 'one\n\ntwo\nthree' }),
    callEnd('ok', { callId: 'plan_1_a/1', parentId: 'plan_1_a', message: 'nested' }),
    callEnd('ok', { callId: 'plan_1_b', message: '{"total":238}' }),
    end(endedNode('a')),
    end(endedNode('b')),
    end(endedNode('c')),
  ]);
  expect(shown.filter((line) => !line.startsWith('  ok'))).toEqual([
    '            | one',
    '            | two',
    '            | … 1 more line',
    '            | {"total":238}',
  ]);
});

test('the JSON view has one event per line, and stacks only on request', () => {
  const failed = callEnd('failed', { error: { name: 'Error', message: 'no', stack: 'Error: no\n  at secret.ts' } });
  for (const stacks of [false, true]) {
    let written = '';
    const view = createJsonView(
      (text) => {
        written += text;
      },
      { stacks },
    );
    for (const event of [planStart([nodeTrace(1)]), failed, end(endedNode(1))]) view.show(event);
    const types = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['plan-start', 'tool-call-end', 'node-end']);
    expect(written.includes('secret.ts')).toBe(stacks);
  }
});

test.each([20, 40, 80, 120])('no line is wider than a terminal of %i columns, for any names', (columns) => {
  const telling = createPlanTelling({ colors, columns });
  const id = 'n'.repeat(64);
  const wide = nodeTrace(id, { tool: '犬'.repeat(30), dependsOn: ['m'.repeat(64)] });
  const others = Array.from({ length: 9_999 }, (_, at) => endedNode(at));
  const call = { callId: `plan_1_${id}`, name: '犬'.repeat(30) };
  const lines = [
    planStart([wide, ...others]),
    start(id),
    { type: 'tool-call-start', ...call, rawArguments: { text: '犬\x1b[2J'.repeat(99) }, atMs: 0 },
    { type: 'tool-call-progress', ...call, message: '已完成一半\x1b[2J'.repeat(9) },
  ].flatMap((event) => [...telling.take(event as PlanEvent), ...telling.open(1500)]);
  const ended = [
    endedNode('\x1b[2J'),
    nodeTrace(id, { kind: 'failed', message: 'x'.repeat(500), tool: '犬'.repeat(30) }),
  ].flatMap((node) => telling.take(end(node)));
  expect(ended.length).toBeGreaterThan(2);
  for (const line of [...lines, ...ended]) {
    expect({ line, fits: measureColumns(line) <= columns }).toEqual({ line, fits: true });
    expect(line).not.toContain('\x1b');
  }
});

test.each([40, 80, 120])('in %i columns, similar long ids can be told apart', (columns) => {
  const telling = createPlanTelling({ colors, columns });
  const nodes = [7, 8].map((at) => endedNode(`summary_of_the_long_chapter_number_${at}`));
  const lines = nodes.flatMap((node) => telling.take(end(node)));
  expect(lines.filter((line) => /summar.*…ber_[78] /.test(`${line} `))).toHaveLength(2);
});

interface Screen {
  readonly output: PassThrough & { columns: number; rows: number };
  readonly take: () => string;
}

function createScreen(): Screen {
  let written = '';
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  return {
    output,
    take() {
      const text = stripVTControlCharacters(written);
      written = '';
      return text;
    },
  };
}

test('the live view shows running nodes and the number of ended ones, redrawn over time and not for every event', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createPlanTelling(style), clock, many: true });
  view.show(planStart([nodeTrace('a'), nodeTrace('b')]));
  expect(take()).toContain('0 of 2 nodes ended');
  view.show(start('a'));
  view.show({ type: 'tool-call-start', callId: 'plan_1_a', name: 'fetch', rawArguments: { top: 3 }, atMs: 0 });
  expect(take()).toBe('');
  clock.advance(100);
  expect(take()).toMatch(/running {3}a {13}fetch \{"top":3\} .*100 ms/);
  view.show({ type: 'tool-call-progress', callId: 'plan_1_a', name: 'fetch', message: 'page 3 \x07of 9' });
  clock.advance(100);
  expect(take()).toContain('page 3 \\x07of 9');
  view.show(callEnd('ok', { callId: 'plan_1_a', message: 'found' }));
  view.show(end(endedNode('a')));
  clock.advance(100);
  expect(take()).toMatch(/ok {8}a .*\| found.*1 of 2 nodes ended/s);
  view.show(end(nodeTrace('b', { kind: 'suspended' })));
  clock.advance(100);
  expect(take()).toContain('1 of 2 nodes ended');
  view.close();
  // The late result of a tool that did not stop.
  view.show({ type: 'tool-call-late', callId: 'plan_1_a', name: 'fetch', answer: 'returned', value: 7, atMs: 9 });
  expect(take()).toContain('late      fetch');
  expect(clock.pending).toBe(0);
});

test('a question has the screen to itself, then the running nodes return', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createPlanTelling(style), clock, many: true });
  view.show(planStart([nodeTrace('a')]));
  const asked = view.pauseFor(async () => {
    take();
    view.show(start('a'));
    view.show({ type: 'tool-call-start', callId: 'plan_1_a', name: 'fetch', rawArguments: {}, atMs: 0 });
    clock.advance(500);
    return take();
  });
  expect(await asked).toBe('');
  expect(take()).toContain('running');
  view.close();
  view.close();
  expect(clock.pending).toBe(0);
});
