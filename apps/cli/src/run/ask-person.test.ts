import { expect, test, vi } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { pendingApproval } from '../testing/test-events.ts';
import { createTestHost } from '../testing/test-host.ts';
import { askPerson, type PersonAnswer } from './ask-person.ts';

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
])('$what: $answer', async ({ keys, answer, interrupts = false }) => {
  const { host, stdin } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const onInterrupt = vi.fn();
  const { signal } = new AbortController();
  const given = askPerson(pending, { input: host.stdin, output: host.stdout, style, signal, onInterrupt });
  stdin.write(keys);
  expect(await given).toMatchObject(answer);
  expect((await given).type === 'approve' && 'grant' in (await given)).toBe('grant' in answer);
  expect(onInterrupt).toHaveBeenCalledTimes(interrupts ? 1 : 0);
});

test('a call that cannot be granted is not offered for the run', async () => {
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

test.each(['before', 'after'])('a question withdrawn %s it was asked is not answered', async (when) => {
  const { host } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const controller = new AbortController();
  const onInterrupt = vi.fn();
  const { signal } = controller;
  if (when === 'before') controller.abort();
  const given = askPerson(pending, { input: host.stdin, output: host.stdout, style, signal, onInterrupt });
  controller.abort();
  expect(await given).toEqual({ type: 'later' });
  expect(onInterrupt).not.toHaveBeenCalled();
});

test('a question shows tool, arguments, changes and reason', async () => {
  const { host, stdin, stdout } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const given = askPerson(pending, {
    input: host.stdin,
    output: host.stdout,
    style,
    signal: new AbortController().signal,
    onInterrupt: vi.fn(),
    preview: { changes: [{ path: 'a.log', change: 'removed', bytesBefore: 12 }] },
  });
  stdin.write('\r');
  await given;
  expect(stdout()).toMatch(
    /^\n {2}asking {4}delete_files {2}dangerous\n {4}\| \{\n {4}\| {3}"pattern": "\*\.log"\n {4}\| \}\n {4}- a\.log \(removed, 12 B\)\n {4}\? `delete_files` is dangerous\. \(holdfast\/dangerous\)\n/,
  );
  expect(stdout()).not.toContain('Show all');
});

const long = { ...pending, input: { command: `${'echo fine; '.repeat(450)}rm -rf ~; ${'echo fine; '.repeat(30)}` } };

test.each<{ what: string; keys: readonly string[]; answer: object }>([
  { what: 'a yes, then a yes', keys: [`${up}${up}\r`, `${up}${up}\r`], answer: { type: 'approve' } },
  { what: 'a yes for the run, then Enter alone', keys: [`${up}\r`, '\r'], answer: { type: 'deny' } },
  { what: '"Show all", then a yes', keys: [`${down}\r`, `${up}${up}\r`], answer: { type: 'approve' } },
  { what: '"Show all", then later', keys: [`${down}\r`, `${down}\r`], answer: { type: 'later' } },
  { what: 'later at once', keys: [`${down}${down}\r`], answer: { type: 'later' } },
  { what: 'no at once', keys: ['\r'], answer: { type: 'deny' } },
])('arguments that do not fit on the screen: $what', async ({ keys, answer }) => {
  const { host, stdin, stdout } = createTestHost({ terminals: ['stdin', 'stdout'] });
  const seen: string[] = [];
  host.stdout.on('data', () => {
    if (stdout().split('◆').length - 1 <= seen.length) return;
    seen.push(stdout());
    setImmediate(() => stdin.write(keys[seen.length - 1] ?? '\x03'));
  });
  const given = await askPerson(long, {
    input: host.stdin,
    output: host.stdout,
    style,
    signal: new AbortController().signal,
    onInterrupt: vi.fn(),
  });
  expect(given).toMatchObject(answer);
  expect(seen).toHaveLength(keys.length);
  expect(seen[0]).not.toContain('rm -rf');
  expect(seen[0]).toContain('Show all');
  if (keys.length === 2) expect(seen[1]?.slice(seen[0]?.length)).toMatch(/rm -rf[\s\S]+◆(?![\s\S]*Show all)/);
});
