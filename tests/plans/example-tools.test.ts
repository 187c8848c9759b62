import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { offlinePlanner } from '@holdfast/adapter-offline';
import type { Json } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { loadTools } from '@holdfast/loader';
import { type CompiledPlan, compilePlan, runPlan } from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { afterAll, describe, expect, test } from 'vitest';

const loaded = await loadTools(fileURLToPath(new URL('../../examples/plan-tools', import.meta.url)), { strict: true });
const { tools } = loaded;
const pages = new Map([
  ['/report.txt', 'The yearly report\n\nSales grew by a fifth. Others had thought so! Why did they?\n'],
  ['/empty.txt', ''],
]);
const server: Server = createServer(({ url = '' }, response) => {
  if (url === '/away') response.writeHead(302, { location: 'http://example.org/' }).end();
  else if (url === '/endless') {
    const send = (): void => {
      while (!response.destroyed && response.write('x'.repeat(100_000)));
    };
    response.on('drain', send).on('error', () => {});
    send();
  } else response.writeHead(pages.has(url) ? 200 : 404).end(pages.get(url) ?? 'There is no such page.');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await loaded.close();
});

async function call(name: string, given: Json, files: Readonly<Record<string, string>> = {}) {
  const filesystem = memoryFilesystem(files);
  const outcome = await executeToolCall(
    { name, arguments: given },
    { tools, session: createSession(), resources: { filesystem } },
  );
  return { outcome, filesystem, value: outcome.kind === 'ok' ? outcome.value : undefined };
}

function sketch({ plan }: CompiledPlan): readonly string[] {
  return plan.nodes.map(
    ({ tool, inputs, depends_on }) => `${tool} ${JSON.stringify(inputs)} <-${depends_on.join(',')}`,
  );
}

describe('the tools of examples/plan-tools', () => {
  test('load without a word, and say what they give and do', () => {
    expect(loaded.diagnostics).toEqual([]);
    const told = tools.map(({ name, effects, repeat, dangerous, outputSchema }) => ({
      name,
      effects,
      repeat,
      dangerous,
      hasOutput: outputSchema !== undefined,
    }));
    const reading = { effects: 'none', repeat: 'safe', dangerous: false, hasOutput: true };
    expect(told).toEqual([
      { name: 'compare_counts', ...reading },
      { name: 'count_words', ...reading },
      { name: 'fetch_page', ...reading },
      { name: 'measure_readability', ...reading },
      { name: 'read_text', ...reading },
      { name: 'write_text', ...reading, effects: 'state' },
    ]);
  });

  test('read and write files of the workspace', async () => {
    expect((await call('read_text', { path: 'a.txt' }, { 'a.txt': 'Grüße\n' })).value).toEqual({
      path: 'a.txt',
      text: 'Grüße\n',
    });
    const { value, filesystem } = await call('write_text', { path: 'b/c.txt', content: 'x' });
    expect(value).toEqual({ path: 'b/c.txt', characters: 1 });
    expect(await filesystem.readOnly.readText('b/c.txt')).toBe('x');
    expect((await call('read_text', { path: 'none.txt' })).outcome.kind).toBe('failed');
  });

  test.each([
    ['Tulips\n\nThey flower in May. Do they? Yes!', { opening: 'Tulips', words: 8, sentences: 4, letters: 30 }],
    ['', { opening: '', words: 0, sentences: 0, letters: 0 }],
    ['# Überschrift\n', { opening: 'Überschrift', words: 1, sentences: 1, letters: 11 }],
    [' \n…\n', { opening: '…', words: 0, sentences: 0, letters: 0 }],
  ])('count %j', async (text, counts) => {
    expect((await call('count_words', { text })).value).toEqual(counts);
  });

  test('measure how easily a text reads', async () => {
    const easy = (await call('measure_readability', { text: 'The cat sat on the mat. It was fat.' })).value;
    const hard = (
      await call('measure_readability', {
        text: 'Institutional considerations notwithstanding, organisational particularities necessitate deliberation.',
      })
    ).value;
    expect(easy).toEqual({ ease: 117.7, words_per_sentence: 4.5, syllables_per_word: 1 });
    expect(hard).toMatchObject({ words_per_sentence: 7 });
    expect((hard as { ease: number }).ease).toBeLessThan(0);
    expect((await call('measure_readability', { text: '…' })).outcome.kind).toBe('failed');
  });

  test('compare counts in a table that no text breaks', async () => {
    const counts = (opening: string, words: number) => ({ opening, words, sentences: 1, letters: 5 });
    const { value } = await call('compare_counts', { counts: [counts('a | b\nc', 2), counts('d', 5)] });
    expect(value).toMatchObject({ longest: 'd' });
    expect((value as { report: string }).report).toContain('| a   b c | 2 | 1 | 5 |\n| d | 5 | 1 | 5 |');
    expect((value as { report: string }).report).toContain('"d" is the longest, with 3 more words than the next.');
    const even = (await call('compare_counts', { counts: [counts('a', 3), counts('b', 3), counts('c', 1)] })).value;
    expect((even as { report: string }).report).toContain('2 texts have 3 words each, and none has more.');
    expect((await call('compare_counts', { counts: [counts('a', 3)] })).outcome.kind).toBe('invalid');
  });

  test('fetch pages of this machine and nothing else', async () => {
    const url = `${origin}/report.txt`;
    expect((await call('fetch_page', { url })).value).toEqual({ url, status: 200, text: pages.get('/report.txt') });
    expect((await call('fetch_page', { url: `${origin}/empty.txt` })).value).toMatchObject({ text: '' });
    const message = async (given: string): Promise<string> => {
      const { outcome } = await call('fetch_page', { url: given });
      return outcome.kind === 'suspended' ? '' : outcome.message;
    };
    expect(await message(`${origin}/none.txt`)).toContain('answered with status 404');
    expect(await message('http://example.org/')).toContain('is not a page of this machine');
    expect(await message('file:///etc/hostname')).toContain('is not a page of this machine');
    expect((await call('fetch_page', { url: `${origin}/away` })).outcome.kind).toBe('failed');
    expect(await message(`${origin}/endless`)).toContain('has more than 1000000 bytes');
  });
});

describe('requests over them', () => {
  const compile = (request: string): Promise<CompiledPlan> =>
    compilePlan({ request, tools, planner: offlinePlanner() });

  test('the one of the example: what needs nothing of each other is parallel, and each node takes what its tool gives', async () => {
    const compiled = await compile(
      `Fetch ${origin}/report.txt and read notes.txt, count the words of both, then write the comparison to summary.md`,
    );
    expect(sketch(compiled)).toEqual([
      `fetch_page {"url":"${origin}/report.txt"} <-`,
      'read_text {"path":"notes.txt"} <-',
      'count_words {"text":{"$from":0,"path":"text"}} <-0',
      'count_words {"text":{"$from":1,"path":"text"}} <-1',
      'compare_counts {"counts":[{"$from":2},{"$from":3}]} <-2,3',
      'write_text {"path":"summary.md","content":{"$from":4,"path":"report"}} <-4',
    ]);
    expect(compiled).toMatchObject({ rounds: 1, planner: 'offline:rules', warnings: [], asks: [] });
    expect(compiled.plan.final_output_node).toBe(5);

    const filesystem = memoryFilesystem({ 'notes.txt': 'My notes\n\nBuy milk.\n' });
    const trace = await runPlan(compiled, { tools, session: createSession(), resources: { filesystem } });
    expect(trace.status, JSON.stringify(trace.nodes)).toBe('succeeded');
    const summary = await filesystem.readOnly.readText('summary.md');
    expect(summary).toContain('| The yearly report | 15 | 4 | 60 |\n| My notes | 4 | 2 | 14 |\n');
    expect(summary).toContain('"The yearly report" is the longest, with 11 more words than the next.');
  });

  test.each([
    [
      'Read notes.txt and measure its readability',
      ['read_text {"path":"notes.txt"} <-', 'measure_readability {"text":{"$from":0,"path":"text"}} <-0'],
    ],
    [
      'Read notes.txt and read todo.txt, count the words of both, compare the counts and write the report to counts.md',
      [
        'read_text {"path":"notes.txt"} <-',
        'read_text {"path":"todo.txt"} <-',
        'count_words {"text":{"$from":0,"path":"text"}} <-0',
        'count_words {"text":{"$from":1,"path":"text"}} <-1',
        'compare_counts {"counts":[{"$from":2},{"$from":3}]} <-2,3',
        'write_text {"path":"counts.md","content":{"$from":4,"path":"report"}} <-4',
      ],
    ],
    [
      'Write "a" to a.txt and read b.txt',
      ['write_text {"path":"a.txt","content":"a"} <-', 'read_text {"path":"b.txt"} <-0'],
    ],
  ])('%s', async (request, expected) => {
    expect(sketch(await compile(request))).toEqual(expected);
  });

  test.each([
    ['Delete notes.txt', 'No tool matches'],
    ['Read notes.txt and mail it to bob@example.org', 'No tool matches'],
    ['If notes.txt is long, write "long" to a.md', '"If"'],
    ['Translate notes.txt into German', 'No tool matches'],
    // Reading comes first only where the request says so.
    ['Count the words of notes.txt', '"notes.txt"'],
    ['Read notes.txt and todo.txt', '"notes.txt", "todo.txt"'],
    ['Read notes.txt and read todo.txt, then write it to a.md', 'It is unclear which earlier result'],
  ])('%s: declined', async (request, why) => {
    await expect(compile(request)).rejects.toMatchObject({
      code: 'plan.declined',
      data: { explanation: expect.stringContaining(why) },
    });
  });
});
