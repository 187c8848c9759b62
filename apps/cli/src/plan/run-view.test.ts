import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { PlanEvent } from '@holdfast/orchestrator';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { callEnd } from '../testing/test-events.ts';
import { endedNode, nodeTrace, planStart } from '../testing/test-plan-events.ts';
import { formatFrame, newFrameMemory } from './frame.ts';
import { PlanProgress } from './progress.ts';
import { createPlanJsonView, createPlanLiveView, createPlanPlainView } from './run-view.ts';

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
  const view = createPlanPlainView((text) => {
    written += text;
  }, free);
  for (const event of events) view.show(event);
  view.close();
  return written.split('\n').slice(0, -1);
}

test('the plain view has a line for each node that has ended, and why it did not succeed', () => {
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
    '            | waits for an answer',
  ]);
});

test('the first two lines of the result of a node stand under it', () => {
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

test('the JSON view has one event a line, and stacks only when asked for', () => {
  const failed = callEnd('failed', { error: { name: 'Error', message: 'no', stack: 'Error: no\n  at secret.ts' } });
  for (const stacks of [false, true]) {
    let written = '';
    const view = createPlanJsonView(
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

function frame(
  events: readonly PlanEvent[],
  { columns = 80, rows = 24, nowMs = 0, places = 10 } = {},
): readonly string[] {
  const progress = new PlanProgress();
  for (const event of events) progress.apply(event);
  return formatFrame(progress, newFrameMemory(), { style: { colors, columns }, rows, nowMs, places });
}

const small = [
  planStart([
    endedNode('news', { tool: 'search' }),
    nodeTrace('text', { tool: 'summarise', dependsOn: ['news'] }),
    nodeTrace('store', { tool: 'db_write' }),
    nodeTrace('report', { tool: 'write_report', dependsOn: ['news', 'text'] }),
  ]),
  start('text', 1000),
  { type: 'tool-call-progress', callId: 'plan_1_text', name: 'summarise', message: 'page 3 of 9' },
  { type: 'node-wait', node: 'store', wait: { type: 'locks', names: ['db'] }, atMs: 1 },
] as const;

test('a frame has a row for each node: state, tries, time, and what it waits for', () => {
  expect(frame(small, { nowMs: 3500 })).toEqual([
    '  state      node    tool          tries     time',
    '  ok         news    search            1   100 ms',
    '  running    text    summarise         1    2.5 s  page 3 of 9',
    '  waiting    store   db_write                      waits for the lock db',
    '  waiting    report  write_report                  waits for text',
    '',
    '  ███████░░░░░░░░░░░░░░░░░░░░░░░  1 of 4  25%  3.5 s so far',
  ]);
});

test('where a tool has been seen there is a guess of what is left, and none where a person is waited for', () => {
  const nodes = [endedNode(1, { durationMs: 30_000 }), nodeTrace(2), nodeTrace(3, { dependsOn: [2] })];
  expect(frame([planStart(nodes)]).at(-1)).toContain('about 60 s left');
  expect(frame([planStart([...nodes, nodeTrace(4, { dependsOn: [3] })])]).at(-1)).toContain('about 2 m left');
  expect(frame([planStart([...nodes, nodeTrace(4, { kind: 'suspended' })])]).at(-1)).not.toContain('left');
  expect(frame([planStart([endedNode(1), nodeTrace(2)])]).at(-1)).not.toContain('left');
});

test('of ten thousand nodes those are shown that move, and the others counted', () => {
  const ended = Array.from({ length: 4000 }, (_, at) => endedNode(at));
  const waiting = Array.from({ length: 6000 }, (_, at) => nodeTrace(4000 + at, { dependsOn: [at] }));
  const lines = frame([planStart([...ended, ...waiting]), start(9000), start(9001)], { rows: 13 });
  expect(lines).toHaveLength(1 + 7 + 1 + 2);
  expect(lines.slice(1, 4).map((line) => line.trim().split(/\s+/).slice(0, 2))).toEqual([
    ['running', '9000'],
    ['running', '9001'],
    ['waiting', '4000'],
  ]);
  expect(lines.at(-3)).toBe('  … and 9,993 more: 4,000 ok, 5,993 waiting');
  expect(lines.at(-1)).toContain('4,000 of 10,000  40%');
});

test.each([{ columns: 20 }, { columns: 40 }, { columns: 80 }, { columns: 120 }])(
  'no line is wider than $columns columns, whatever the names are',
  ({ columns }) => {
    const wide = nodeTrace('n'.repeat(64), { tool: '犬'.repeat(30), dependsOn: ['m'.repeat(64)] });
    const lines = frame(
      [planStart([wide, endedNode('\x1b[2J'), nodeTrace(1, { kind: 'failed', message: 'x'.repeat(500) })])],
      {
        columns,
      },
    );
    for (const line of lines) expect(measureColumns(line)).toBeLessThan(columns);
    expect(lines.join('')).not.toContain('\x1b');
  },
);

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

test('the live view is drawn again as time passes, and not for every event', () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = createPlanLiveView(output, { style, clock, places: 10 });
  view.show(planStart([nodeTrace('a'), nodeTrace('b')]));
  expect(take()).toContain('0 of 2');
  view.show(start('a'));
  view.show(end(endedNode('a')));
  expect(take()).toBe('');
  clock.advance(100);
  expect(take()).toMatch(/ok {9}a .*1 of 2 {2}50%/s);
  view.close();
  // What a tool that did not stop came to.
  view.show({ type: 'tool-call-late', callId: 'plan_1_a', name: 'fetch', answer: 'returned', value: 7, atMs: 9 });
  expect(take()).toContain('late      fetch');
  expect(clock.pending).toBe(0);
});

test('a question has the screen to itself, and then the table is back', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = createPlanLiveView(output, { style, clock, places: 10 });
  view.show(planStart([nodeTrace('a')]));
  const asked = view.pauseFor(async () => {
    take();
    view.show(start('a'));
    clock.advance(500);
    return take();
  });
  expect(await asked).toBe('');
  expect(take()).toContain('running');
  view.close();
  view.close();
  expect(clock.pending).toBe(0);
});
