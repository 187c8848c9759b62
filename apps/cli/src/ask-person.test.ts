import { expect, test, vi } from 'vitest';
import { askPerson, describePending, type PersonAnswer } from './ask-person.ts';
import { createColors } from './colors.ts';
import { measureColumns } from './terminal-text.ts';
import { pendingApproval } from './test-events.ts';
import { createTestHost } from './test-host.ts';

const style = { colors: createColors(false), columns: 80 };
const pending = pendingApproval({
  name: 'delete_files',
  input: { pattern: '*.log' },
  asks: [{ policy: 'holdfast/dangerous', type: 'ask', reason: '`delete_files` is dangerous.' }],
});

const up = '\x1b[A';
const down = '\x1b[B';
test.each<{ keys: string; what: string; answer: Partial<PersonAnswer>; interrupts?: boolean }>([
  { keys: '\r', what: 'Enter alone', answer: { type: 'deny' } },
  { keys: `${up}\r`, what: 'allow for this run', answer: { type: 'approve', grant: true } },
  { keys: `${up}${up}\r`, what: 'allow once', answer: { type: 'approve' } },
  { keys: `${down}\r`, what: 'decide later', answer: { type: 'later' } },
  { keys: '\x1b', what: 'Escape', answer: { type: 'deny' } },
  { keys: '\x03', what: 'Ctrl-C', answer: { type: 'later' }, interrupts: true },
])('$what answers $answer', async ({ keys, answer, interrupts = false }) => {
  const { host, stdin } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const onInterrupt = vi.fn();
  const { signal } = new AbortController();
  const given = askPerson(pending, { input: host.stdin, output: host.stdout, style, signal, onInterrupt });
  stdin.write(keys);
  expect(await given).toMatchObject(answer);
  expect((await given).type === 'approve' && 'grant' in (await given)).toBe('grant' in answer);
  expect(onInterrupt).toHaveBeenCalledTimes(interrupts ? 1 : 0);
});

test('what cannot be granted is not offered for the run', async () => {
  const { host, stdin } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const asks = [
    ...pending.asks,
    { policy: 'p', type: 'ask' as const, reason: 'Each time.', grantable: false as const },
  ];
  const { signal } = new AbortController();
  const options = { input: host.stdin, output: host.stdout, style, signal, onInterrupt: vi.fn() };
  const given = askPerson({ ...pending, asks }, options);
  stdin.write(`${up}\r`);
  expect(await given).toEqual({ type: 'approve' });
});

test('a question that is taken back is no answer', async () => {
  const { host } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const controller = new AbortController();
  const onInterrupt = vi.fn();
  const { signal } = controller;
  const given = askPerson(pending, { input: host.stdin, output: host.stdout, style, signal, onInterrupt });
  controller.abort();
  expect(await given).toEqual({ type: 'later' });
  expect(onInterrupt).not.toHaveBeenCalled();
});

test('tool, arguments and reason are shown', () => {
  expect(describePending(pending, style)).toEqual([
    '  asking    delete_files  dangerous',
    '    | {',
    '    |   "pattern": "*.log"',
    '    | }',
    '    `delete_files` is dangerous. (holdfast/dangerous)',
  ]);
});

test('arguments cannot act on the terminal, fake our lines or flood the screen', () => {
  const hostile = {
    ...pending,
    name: 'delete\x1b[2J',
    input: { a: '\x1b[31m\u009b1m\nMay it run? yes\u202Egpj', b: '漢'.repeat(500_000), c: 'x'.repeat(500_000) },
    asks: [{ policy: 'p', type: 'ask' as const, reason: `because\n${'long '.repeat(10_000)}` }],
  };
  const lines = describePending(hostile, style);
  expect(lines.length).toBeLessThan(30);
  for (const line of lines) {
    expect(measureColumns(line)).toBeLessThanOrEqual(80);
    expect(line).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
  }
  expect(lines.join('\n')).toMatch(/cut here: all of it is \d+ characters, sha256 [0-9a-f]{16}/);
});
