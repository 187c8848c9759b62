import type { PolicyDecision, ToolCallEndEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { callEnd } from '../testing/test-events.ts';
import { describeDecision, formatArguments, formatCallEnd, type LineStyle } from './line.ts';

const plain: LineStyle = { colors: createColors(false), columns: Number.POSITIVE_INFINITY };
const narrow: LineStyle = { colors: createColors(false), columns: 80 };

const allowed: PolicyDecision = { policy: 'host/read-before-write', type: 'allow' };
const asked: PolicyDecision = { policy: 'holdfast/dangerous', type: 'ask', reason: 'It is dangerous.' };
const granted: PolicyDecision = { policy: 'holdfast/dangerous', type: 'allow', reason: 'Granted for the session.' };
const observed: PolicyDecision = { policy: 'host/call-budget', type: 'allow', observed: 'deny', reason: 'Used up.' };
const refused: PolicyDecision = { policy: 'host/read-before-write', type: 'deny', reason: 'Read it first.' };

test.each<{ text: string; event: ToolCallEndEvent }>([
  { text: 'allow', event: callEnd('ok') },
  { text: 'allow', event: callEnd('failed', { decisions: [allowed] }) },
  { text: 'allow: granted', event: callEnd('ok', { decisions: [allowed, granted] }) },
  { text: 'would deny: call-budget', event: callEnd('ok', { decisions: [allowed, observed] }) },
  {
    text: 'would deny: call-budget',
    event: callEnd('ok', { decisions: [{ ...observed, policy: 'host/other', observed: 'ask' }, observed] }),
  },
  { text: 'would ask: call-budget', event: callEnd('ok', { decisions: [{ ...observed, observed: 'ask' }] }) },
  {
    text: 'asked: approved by person',
    event: callEnd('ok', { decisions: [observed], approval: { type: 'approve', by: 'person' } }),
  },
  { text: 'deny: read-before-write', event: callEnd('denied', { decisions: [observed, refused] }) },
  { text: '', event: callEnd('unknown-tool') },
  { text: 'deny: read-before-write', event: callEnd('denied', { decisions: [asked, refused] }) },
  { text: 'ask: dangerous', event: callEnd('denied', { decisions: [asked] }) },
  {
    text: 'asked: approved by person',
    event: callEnd('ok', { decisions: [asked], approval: { type: 'approve', by: 'person' } }),
  },
  {
    text: 'asked: denied by host',
    event: callEnd('denied', { decisions: [asked], approval: { type: 'deny', by: 'host' } }),
  },
])('the decision reads `$text`', ({ text, event }) => {
  expect(describeDecision(event)).toBe(text);
});

test('a success is one line; other outcomes add the reason', () => {
  expect(formatCallEnd(callEnd('ok'), plain)).toEqual(['  ok        read_file     {"path":"a.txt"}  allow    3 ms']);
  const failed = callEnd('failed', { code: 'file.missing', message: 'There is no `a.txt`.', decisions: [allowed] });
  expect(formatCallEnd(failed, plain)).toEqual([
    '  failed    read_file     {"path":"a.txt"}  allow    3 ms',
    '            | There is no `a.txt`. (file.missing)',
  ]);
  const { outcome } = callEnd('ok');
  const tried = callEnd('ok', { outcome: { ...outcome, attempts: 3 } });
  expect(formatCallEnd(tried, plain)).toEqual([
    '  ok        read_file     {"path":"a.txt"}  allow, 3 attempts    3 ms',
  ]);
});

test.each([
  { what: 'long arguments', event: callEnd('ok', { rawArguments: { content: 'x'.repeat(5000) } }) },
  { what: 'wide arguments', event: callEnd('ok', { rawArguments: { content: '漢字'.repeat(100) } }) },
  { what: 'a long tool name', event: callEnd('ok', { name: 'n'.repeat(64) }) },
  {
    what: 'a long reason',
    event: callEnd('denied', { decisions: [refused], message: 'word '.repeat(400), code: 'policy.denied' }),
  },
  {
    what: 'many deciders',
    event: callEnd('denied', { decisions: ['a', 'b', 'c'].map((name) => ({ ...refused, policy: name.repeat(30) })) }),
  },
])('$what: at most 80 columns and four lines', ({ event }) => {
  const lines = formatCallEnd(event, narrow);
  expect(lines.length).toBeLessThanOrEqual(4);
  for (const line of lines) expect(measureColumns(line)).toBeLessThan(80);
});

test('arguments cannot forge a line or control the terminal', () => {
  const event = callEnd('ok', { name: 'a\x1b[2J', rawArguments: '{"a":"\n  ok  approved\u202E\x1b[31m"}' });
  const [line = '', ...more] = formatCallEnd(event, plain);
  expect(more).toEqual([]);
  expect(line).toContain('a\\x1b[2J');
  expect(line).toContain('\\n  ok  approved\\u{202e}\\x1b[31m');
});

test.each([20, 30, 40, 60])('no line is wider than a terminal of %i columns', (columns) => {
  const style = { colors: createColors(false), columns };
  const end = callEnd('denied', {
    name: '读取文件读取文件',
    message: 'The reason is long. '.repeat(9),
    code: 'policy.denied',
  });
  for (const line of formatCallEnd(end, style)) expect(measureColumns(line)).toBeLessThan(columns);
});

test('megabytes of arguments are cut before formatting', () => {
  const text = formatArguments({ content: '读'.repeat(5_000_000) });
  expect(text.length).toBeLessThan(4100);
  expect(text.endsWith('…')).toBe(true);
});
