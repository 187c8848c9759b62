import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { RunEvent } from '@holdfast/core';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { callEnd } from '../testing/test-events.ts';
import { createJsonView, createLiveView, createPlainView, createRunTelling } from './view.ts';

const style = { colors: createColors(false), columns: 80 };
const message: RunEvent = {
  type: 'model-message',
  run: 1,
  turn: 1,
  text: 'Reading \x1b[2Jfirst.',
  calls: [{ id: 'c1', name: 'read_file', arguments: '{"path":"a.txt"}' }],
  reason: 'tool-calls',
};
const start: RunEvent = {
  type: 'tool-call-start',
  callId: 'c1',
  name: 'read_file',
  rawArguments: '{"path":"a.txt"}',
  atMs: 0,
};
const answer: RunEvent = { type: 'model-message', run: 1, turn: 2, text: 'The answer.', calls: [], reason: 'stop' };

function collect(): { readonly write: (text: string) => void; readonly text: () => string } {
  let written = '';
  return {
    write: (text) => {
      written += text;
    },
    text: () => written,
  };
}

test('the plain view has a line per call and text beside calls, and leaves the answer to the end', () => {
  const output = collect();
  const view = createPlainView(
    output.write,
    createRunTelling({ ...style, columns: Number.POSITIVE_INFINITY }, manualClock()),
  );
  for (const event of [message, start, callEnd('ok'), answer]) view.show(event);
  expect(output.text()).toBe('  | Reading \\x1b[2Jfirst.\n  ok        read_file     {"path":"a.txt"}  allow    3 ms\n');
});

test.each([
  { text: '', rows: [] },
  { text: '{"total":238}', rows: ['| {"total":238}'] },
  { text: 'one\n\n\x1b[2Jtwo\nthree\n\nfour', rows: ['| one', '| \\x1b[2Jtwo', '| … 2 more lines'] },
])('the first two lines of a result are shown under its call: $rows', async ({ text, rows }) => {
  const output = collect();
  const plain = createPlainView(
    output.write,
    createRunTelling({ ...style, columns: Number.POSITIVE_INFINITY }, manualClock()),
  );
  plain.show(callEnd('ok', { message: text }));
  const [, ...under] = output.text().trimEnd().split('\n');
  expect(under).toEqual(rows.map((row) => `            ${row}`));
  const screen = createScreen(40);
  const live = await createLiveView(screen.output, {
    telling: createRunTelling({ ...style, columns: 40 }, manualClock()),
    clock: manualClock(),
  });
  live.show(callEnd('ok', { message: text }));
  live.close();
  const shown = stripVTControlCharacters(screen.take());
  for (const row of rows) expect(shown).toContain(`\n            ${row}\n`);
});

test('the result of a call is dimmed', () => {
  const output = collect();
  const view = createPlainView(
    output.write,
    createRunTelling({ colors: createColors(true), columns: Number.POSITIVE_INFINITY }, manualClock()),
  );
  view.show(callEnd('ok', { message: 'one' }));
  expect(output.text()).toContain('\n            \x1b[2m| one\x1b[22m\n');
});

const inner: RunEvent = callEnd('ok', { callId: 'c1/1', parentId: 'c1', name: 'list_files' });
const late: RunEvent = { type: 'tool-call-late', callId: 'c9', name: 'slow', answer: 'returned', value: 7, atMs: 9 };
const inChild = (event: RunEvent): RunEvent => ({ type: 'child-event', callId: 'c1', sessionId: 's/c1/1', event });
const childRun: readonly RunEvent[] = [
  { type: 'run-start', sessionId: 's/c1/1', run: 1, model: 'm:1', prompt: 'p', input: 'Look.', tools: [], atMs: 0 },
  message,
  callEnd('failed', { parentId: 'c1', message: 'no', code: 'tool.failed' }),
  {
    type: 'run-end',
    run: 1,
    status: 'completed',
    text: 'Found\nit.',
    turns: 2,
    usage: { inputTokens: 0, outputTokens: 0 },
    atMs: 12,
  },
];

test('nested calls are shown under their parent, a child run is marked, a late result stands alone', () => {
  const output = collect();
  const view = createPlainView(
    output.write,
    createRunTelling({ ...style, columns: Number.POSITIVE_INFINITY }, manualClock()),
  );
  for (const event of [start, inner, ...childRun.map(inChild)]) view.show(event);
  expect(output.text()).toBe('');
  for (const event of [callEnd('ok'), late]) view.show(event);
  expect(output.text().split('\n')).toEqual([
    '  ok        read_file     {"path":"a.txt"}  allow    3 ms',
    '    ok        list_files    {"path":"a.txt"}  allow    3 ms',
    '    completed child run     Look.  2 turns, m:1   12 ms',
    '              | Found\\nit.',
    '      | Reading \\x1b[2Jfirst.',
    '      failed    read_file     {"path":"a.txt"}      3 ms',
    '                | no (tool.failed)',
    '  late      slow          7  returned, ignored',
    '',
  ]);
});

test('calls nested in a call without an end are shown at the end', () => {
  const output = collect();
  const view = createPlainView(
    output.write,
    createRunTelling({ ...style, columns: Number.POSITIVE_INFINITY }, manualClock()),
  );
  for (const event of [start, inner]) view.show(event);
  view.close();
  expect(output.text()).toBe('  ok        list_files    {"path":"a.txt"}  allow    3 ms\n');
});

test('the JSON view has one event per line, and stacks only on request', () => {
  const failed = callEnd('failed', { error: { name: 'Error', message: 'no', stack: 'Error: no\n  at secret.ts' } });
  for (const stacks of [false, true]) {
    const output = collect();
    const view = createJsonView(output.write, { stacks });
    for (const event of [message, failed, inChild(failed)]) view.show(event);
    const lines = output.text().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['model-message', 'tool-call-end', 'child-event']);
    for (const line of lines.slice(1)) expect(line.includes('secret.ts')).toBe(stacks);
    expect(JSON.parse(lines[0] ?? '')).toEqual(message);
    expect(output.text().includes('secret.ts')).toBe(stacks);
  }
});

function createScreen(columns = 80): {
  readonly output: PassThrough & { columns: number; rows: number };
  readonly take: () => string;
} {
  let written = '';
  const output = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 24 });
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  return {
    output,
    take() {
      const text = written;
      written = '';
      return text;
    },
  };
}

test('the live view follows a call through its states', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createRunTelling(style, clock), clock });
  view.show({ type: 'turn-start', turn: 1 });
  view.show({ type: 'text-delta', turn: 1, text: 'Reading' });
  expect(take()).toMatch(/thinking {2}Reading/);
  view.show(message);
  expect(take()).toMatch(/waiting {3}read_file/);
  view.show(start);
  clock.advance(1500);
  expect(take()).toMatch(/running {3}read_file .* 1\.5 s/s);
  view.show({ type: 'tool-call-progress', callId: 'c1', name: 'read_file', message: 'half \x07way' });
  expect(take()).toContain('half \\x07way');
  view.show(callEnd('ok'));
  expect(take()).toMatch(/ok {8}read_file/);
  view.close();
  expect(clock.pending).toBe(0);
});

test('the live view shows several calls at once, with nested calls below', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createRunTelling(style, clock), clock });
  const calls = ['c1', 'c2', 'c3'].map((id) => ({ id, name: `tool_${id}`, arguments: '{}' }));
  view.show({ ...message, text: '', calls });
  for (const { id, name } of calls.slice(0, 2)) view.show({ ...start, callId: id, name });
  view.show({ ...start, callId: 'c1/1', parentId: 'c1', name: 'inside' });
  view.show({ type: 'tool-call-beat', callId: 'c2', name: 'tool_c2', atMs: 0 });
  take();
  clock.advance(1500);
  const [frame] = stripVTControlCharacters(take()).split('running   tool_c1').slice(-1);
  expect(frame?.replaceAll(/ +/g, ' ').split('\n')).toEqual([
    ' {} 1.5 s',
    ' running inside {"path":"a.txt"} 1.5 s',
    ' running tool_c2 {} alive 1.5 s ago 1.5 s',
    ' waiting tool_c3 {}',
    '',
  ]);
  view.show(callEnd('ok', { callId: 'c1/1', parentId: 'c1', name: 'inside' }));
  expect(take()).not.toContain('ok');
  view.show(callEnd('ok', { name: 'tool_c1' }));
  expect(stripVTControlCharacters(take())).toMatch(/ {2}ok {8}tool_c1 [^\n]*\n {4}ok {8}inside .*running {3}tool_c2/s);
  view.close();
});

test('the live view draws nothing during a question, and continues afterwards', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createRunTelling(style, clock), clock });
  view.show(message);
  const { promise, resolve } = Promise.withResolvers<string>();
  const answered = view.pauseFor(() => promise);
  take();
  clock.advance(1000);
  view.show(callEnd('ok', { callId: 'c0', name: 'list_files' }));
  expect(take()).toBe('');
  resolve('yes');
  expect(await answered).toBe('yes');
  expect(take()).toMatch(/ok {8}list_files.*waiting/s);
  view.close();
});

test('a question answered after the end draws nothing', async () => {
  const { output, take } = createScreen();
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createRunTelling(style, clock), clock });
  view.show(message);
  const { promise, resolve } = Promise.withResolvers<string>();
  const answered = view.pauseFor(() => promise);
  view.show(callEnd('cancelled'));
  view.close();
  expect(take()).toContain('cancelled');
  resolve('late');
  await answered;
  expect(take()).toBe('');
  expect(clock.pending).toBe(0);
});

test('a late result after the end gets its own line', async () => {
  const { output, take } = createScreen();
  const view = await createLiveView(output, { telling: createRunTelling(style, manualClock()), clock: manualClock() });
  view.close();
  take();
  view.show(late);
  expect(take()).toMatch(/^ {2}late {6}slow {10}7 .* returned, ignored\n$/);
});

test('calls beyond the limit of lines are counted', async () => {
  const { output, take } = createScreen();
  const view = await createLiveView(output, { telling: createRunTelling(style, manualClock()), clock: manualClock() });
  const calls = Array.from({ length: 30 }, (_, index) => ({ id: `c${index}`, name: 'read_file', arguments: '{}' }));
  view.show({ ...message, text: '', calls });
  expect(take()).toContain('… and 22 more');
  // Running calls are always visible.
  view.show({ ...start, callId: 'c20', name: 'busy' });
  expect(take()).toContain('running');
  view.close();
});

test.each([20, 40, 80])('no frame is wider than a terminal of %i columns, in any script', async (columns) => {
  const { output, take } = createScreen(columns);
  const clock = manualClock();
  const view = await createLiveView(output, { telling: createRunTelling({ ...style, columns }, clock), clock });
  const given = { path: '读取文件/отчёт.txt', content: '🎉👩‍👩‍👧 اقرأ الملف '.repeat(20) };
  view.show({ type: 'turn-start', turn: 1 });
  view.show({ type: 'text-delta', turn: 1, text: '我先读取文件，然后写报告。'.repeat(9) });
  view.show({ ...message, text: '', calls: [{ id: 'c1', name: 'read_file', arguments: given }] });
  view.show({ ...start, rawArguments: given });
  view.show({ ...start, callId: 'c1/1', parentId: 'c1', rawArguments: given });
  view.show({ ...start, callId: 'c1/1/1', parentId: 'c1/1', rawArguments: given });
  clock.advance(1500);
  view.show({ type: 'tool-call-progress', callId: 'c1', name: 'read_file', message: '已完成一半'.repeat(9) });
  for (const event of childRun.map(inChild)) view.show(event);
  view.show({ ...late, value: given });
  view.show(callEnd('failed', { rawArguments: given, message: '文件不存在。'.repeat(30) }));
  view.close();
  const lines = stripVTControlCharacters(take()).split(/[\r\n]/);
  expect(lines.join('\n')).toContain('failed');
  for (const line of lines) expect({ line, fits: measureColumns(line) <= columns }).toEqual({ line, fits: true });
});
