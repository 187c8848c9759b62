import type { JsonObject } from '@holdfast/core';
import type { PlannerAttempt, PlannerTool } from '@holdfast/core/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { offlinePlanner } from './offline-planner.ts';
import { toolFrom } from './test-tools.ts';

interface AnyPlan {
  readonly status: string;
  readonly error?: string;
  readonly nodes?: readonly {
    readonly id: number;
    readonly tool: string;
    readonly inputs: JsonObject;
    readonly depends_on: readonly number[];
  }[];
}

function plannerTool(
  signature: string,
  description: string,
  gives?: JsonObject,
  effects: PlannerTool['effects'] = 'none',
): PlannerTool {
  const outputSchema =
    gives === undefined ? {} : { outputSchema: { type: 'object', properties: gives, required: Object.keys(gives) } };
  return { ...toolFrom(signature, description), ...outputSchema, effects, dangerous: false };
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const counts = { type: 'array', items: { type: 'object', properties: { words: integer }, required: ['words'] } };
const compare = plannerTool('compare_counts(counts)', 'Compare several word counts.', { report: text, longest: text });
const tools: readonly PlannerTool[] = [
  plannerTool('read_file(path)', 'Read a text file.', { path: text, text, note: text }),
  plannerTool('write_file(path, content)', 'Write a text file.', { bytes: integer }, 'state'),
  plannerTool('fetch_page(url:uri)', 'Fetch a web page.', { url: text, text }),
  plannerTool('count_words(text)', 'Count the words of a text.', { words: integer }),
  plannerTool('measure_text(text)', 'Measure a text.', { ease: { type: 'number' } }),
  { ...compare, inputSchema: { type: 'object', properties: { counts }, required: ['counts'] } },
  plannerTool('load_note(title)', 'Load a note.'),
  plannerTool('shorten(text)', 'Shorten a text.'),
];

async function plan(request: string, attempts: readonly PlannerAttempt[] = [], offered = tools): Promise<AnyPlan> {
  const answer = await offlinePlanner().plan({
    request,
    tools: offered,
    attempts,
    signal: new AbortController().signal,
  });
  if (!('plan' in answer)) throw new Error('no plan');
  return answer.plan as unknown as AnyPlan;
}

async function sketch(request: string): Promise<readonly string[]> {
  const { nodes, error } = await plan(request);
  return (
    nodes?.map(({ tool, inputs, depends_on }) => `${tool} ${JSON.stringify(inputs)} <-${depends_on.join()}`) ?? [
      `? ${error}`,
    ]
  );
}

const read = (path: string): string => `read_file {"path":"${path}"} <-`;

describe('steps are joined by "and" and "then"', () => {
  test.each([
    ['Read a.txt', [read('a.txt')]],
    [
      'Read a.txt and fetch https://example.org/b, count the words of both, then compare the counts',
      [
        read('a.txt'),
        'fetch_page {"url":"https://example.org/b"} <-',
        'count_words {"text":{"$from":0,"path":"text"}} <-0',
        'count_words {"text":{"$from":1,"path":"text"}} <-1',
        'compare_counts {"counts":[{"$from":2},{"$from":3}]} <-2,3',
      ],
    ],
    [
      'Read a.txt and read b.txt, count the words of both, then write the comparison to c.md',
      [
        read('a.txt'),
        read('b.txt'),
        'count_words {"text":{"$from":0,"path":"text"}} <-0',
        'count_words {"text":{"$from":1,"path":"text"}} <-1',
        'compare_counts {"counts":[{"$from":2},{"$from":3}]} <-2,3',
        'write_file {"path":"c.md","content":{"$from":4,"path":"report"}} <-4',
      ],
    ],
    [
      'Read a.txt and write it to b.txt',
      [read('a.txt'), 'write_file {"path":"b.txt","content":{"$from":0,"path":"text"}} <-0'],
    ],
    ['Read a.txt and measure its text', [read('a.txt'), 'measure_text {"text":{"$from":0,"path":"text"}} <-0']],
    [
      'Load the note with the title "A" and shorten it',
      ['load_note {"title":"A"} <-', 'shorten {"text":"{{STEPS.0}}"} <-0'],
    ],
    ['Read a.txt, then read b.txt', [read('a.txt'), `${read('b.txt')}0`]],
    [
      'Read a.txt and write "x" to b.txt and read b.txt',
      [read('a.txt'), 'write_file {"path":"b.txt","content":"x"} <-0', `${read('b.txt')}1`],
    ],
  ])('%s', async (request, expected) => {
    expect(await sketch(request)).toEqual(expected);
  });
});

test.each([
  ['Read a.txt and b.txt', '"a.txt", "b.txt"'],
  ['Read a.txt and translate it', 'do not understand "translate", "it"'],
  ['Read a.txt and read b.txt and count the words of it', 'It is unclear which earlier result'],
  ['Read a.txt, read b.txt and read c.txt, then count the words of both', 'It is unclear which earlier result'],
  ['Count the words of it', '"it"'],
  ['Read a.txt if it is there', '"if", "it"'],
  ['Read a.txt and write "x" of it to b.txt', 'does not use an earlier result'],
  ['Write "{{STEPS.0.text}}" to a.txt', 'looks like a reference'],
  ['Fly me to the moon', 'No tool matches'],
  ['Hello!', 'does not name an action'],
  ['读取文件', 'I read English only'],
])('declined with a reason: %s', async (request, why) => {
  const { status, error, nodes } = await plan(request);
  expect({ status, nodes }).toEqual({ status: 'error', nodes: undefined });
  expect(error).toContain(why);
});

test('a tool with a parameter `$from`, which a plan would read as a reference, is declined', async () => {
  const inputSchema: JsonObject = {
    type: 'object',
    properties: { text: { type: 'string' }, $from: { type: 'integer' } },
    required: ['text', '$from'],
  };
  const count: PlannerTool = {
    ...{ name: 'count_words', description: 'Count a text.', effects: 'none', dangerous: false },
    inputSchema,
  };
  const { status, error } = await plan('Count "x" 10', [], [count]);
  expect({ status, error }).toMatchObject({ status: 'error', error: expect.stringContaining('`$from`') });
});

test('a rejected plan is not rewritten', async () => {
  const problems = [{ code: 'plan.input.type', path: 'nodes[0].inputs.path', message: 'Too long.' }];
  expect(await plan('Read a.txt', [{ text: '', problems }])).toMatchObject({
    status: 'error',
    error: 'I have no alternative to the rejected plan. plan.input.type at nodes[0].inputs.path: Too long.',
  });
  expect(await plan('Read a.txt', [], [])).toMatchObject({ error: 'No tools are available.' });
});

const words =
  'read fetch count compare write delete it them both each then and , . the counts comparison report text of to a.txt b.md "x" "{{STEPS.0}}" $from https://example.org/a 10 __proto__ constructor';
const anySchema = fc.dictionary(
  fc.constantFrom('__proto__', '$from', 'text', 'path', 'a key', '0'),
  fc.constantFrom<JsonObject>({ type: 'string' }, { type: 'integer' }, { $ref: '#' }, {}),
);
const anyTool = fc
  .record({
    name: fc.constantFrom('read_file', 'count_words', '__proto__'),
    takes: anySchema,
    gives: fc.option(anySchema),
  })
  .map(
    ({ name, takes, gives }): PlannerTool => ({
      ...{ name, description: 'Read or count a text.', effects: 'none', dangerous: false },
      inputSchema: { type: 'object', properties: takes, required: Object.keys(takes) },
      ...(gives === null ? {} : { outputSchema: { type: 'object', properties: gives } }),
    }),
  );

test('property: a request over any tools gives a plan whose steps refer to earlier ones, or a reason', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...words.split(' ')), { maxLength: 25 }).map((some) => some.join(' ')),
      fc.array(fc.oneof(anyTool, fc.constantFrom(...tools)), { maxLength: 8 }),
      async (request, offered) => {
        const made = await plan(request, [], offered);
        expect(await plan(request, [], offered)).toEqual(made);
        expect(made.error).not.toBe('');
        for (const [index, { id, tool, inputs, depends_on }] of (made.nodes ?? []).entries()) {
          expect(id).toBe(index);
          expect(offered.some(({ name }) => name === tool)).toBe(true);
          for (const parent of depends_on) expect(parent).toBeLessThan(id);
          for (const [, from] of JSON.stringify(inputs).matchAll(/"\$from":(\d+)|\{\{STEPS\.(\d+)\}\}/gu))
            if (from !== undefined) expect(depends_on).toContain(Number(from));
        }
      },
    ),
    { numRuns: 200 },
  );
});
