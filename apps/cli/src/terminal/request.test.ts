import { expect, test } from 'vitest';
import { createTestHost } from '../testing/test-host.ts';
import { readRequest } from './request.ts';

async function read(argument: string, chunks: readonly (string | Buffer)[] = [], isTerminal = false) {
  const { host, stdin, stderr } = createTestHost({ terminals: isTerminal ? ['stdin'] : [] });
  for (const chunk of chunks) stdin.write(chunk);
  stdin.end();
  return { request: await readRequest(argument, host), stderr: stderr() };
}

test('the request is the argument, or with `-` standard input', async () => {
  expect(await read('List the files')).toEqual({ request: 'List the files', stderr: '' });
  const [first, second] = [Buffer.from('读取 a.txt').subarray(0, 4), Buffer.from('读取 a.txt').subarray(4)];
  expect(await read('-', [first, second])).toEqual({ request: '读取 a.txt', stderr: '' });
});

test('prints instructions at a terminal', async () => {
  expect((await read('-', ['x'], true)).stderr).toContain('Ctrl-D');
});

test.each([
  { what: 'an empty argument', argument: ' \n', chunks: [], reason: 'request_empty' },
  { what: 'nothing', argument: '-', chunks: [], reason: 'request_empty' },
  {
    what: 'bytes that are not text',
    argument: '-',
    chunks: [Buffer.from([0xff, 0xfe])],
    reason: 'request_not_text',
  },
  {
    what: 'more than 16 MiB',
    argument: '-',
    chunks: [Buffer.alloc(8 * 1024 * 1024, 'a'), Buffer.alloc(8 * 1024 * 1024 + 1, 'a')],
    reason: 'request_too_large',
  },
])('$what is refused', async ({ argument, chunks, reason }) => {
  await expect(read(argument, chunks)).rejects.toMatchObject({ code: 'usage.invalid', reason });
});
