import { type CallFacts, type Describer, defineTool, type FactsSource, type Json, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { createFacts, type FactsOptions, fileFacts, memoryDisk, noFacts, shellFacts } from '../index.ts';

const disk = memoryDisk({ '/w/a.md': 'A', '/w/link': { link: '/etc/passwd' } });
const view = { folder: '/w', workspace: '/w', disk };
const describers = [shellFacts(), fileFacts()];

function tool(name: string, facts?: unknown, more: Partial<Pick<Tool, 'origin'>> = {}): Tool {
  const inputSchema = jsonSchema({ type: 'object', additionalProperties: true });
  return defineTool({
    name,
    description: 'Acts.',
    inputSchema,
    ...more,
    ...(facts === undefined ? {} : { facts }),
  } as Parameters<typeof defineTool>[0]) as Tool;
}

function describe(called: Tool, input: Json, options: Partial<FactsOptions> = {}): CallFacts {
  const source: FactsSource = createFacts({ describers, view, ...options });
  return source.describe({ id: 'c', tool: called, input }, source.view);
}

const own: CallFacts = { ...noFacts, reads: [{ path: '/w/own', inside: true }] };
const pathsOf = ({ reads }: CallFacts): readonly string[] => reads.map(({ path }) => path);
const kindsOf = ({ unclear }: CallFacts): readonly string[] => unclear.map(({ kind }) => kind);

test('describers run in order, and their facts are joined', () => {
  const twice = { ...fileFacts(), name: 'again' };
  const facts = describe(tool('read_file'), { path: 'link' }, { describers: [...describers, twice] });
  expect(pathsOf(facts)).toEqual(['/etc/passwd', '/etc/passwd']);
});

test('an unknown tool is unclear', () => {
  expect(describe(tool('do_it'), {})).toEqual({
    ...noFacts,
    unclear: [{ kind: 'tool', reason: 'unknown tool `do_it`' }],
  });
});

test.each([
  { what: 'nobody', trusts: undefined, kinds: ['tool'] },
  { what: 'another tool', trusts: ({ name }: Tool) => name === 'other', kinds: ['tool'] },
  { what: 'the tool', trusts: ({ name }: Tool) => name === 'read_file', kinds: [] },
  { what: "the program's own tools", trusts: ({ origin }: Tool) => origin === undefined, kinds: [] },
])('a trusted tool adds its facts to those of describers: $what', ({ trusts, kinds }) => {
  const facts = describe(
    tool('read_file', () => own),
    { path: 'a.md' },
    trusts === undefined ? {} : { trusts },
  );
  expect(pathsOf(facts)).toEqual(['/w/a.md', '/w/own']);
  expect(kindsOf(facts)).toEqual(kinds);
});

test('a tool receives its input and the view; its facts stand alone if no describer knows it', () => {
  const reading = tool('mine', (input: unknown, seen: unknown) => ({
    ...noFacts,
    unclear: [{ kind: 'code', reason: JSON.stringify([input, (seen as { folder: string }).folder]) }],
  }));
  expect(describe(reading, { a: 1 }, { trusts: () => true }).unclear).toEqual([
    { kind: 'code', reason: '[{"a":1},"/w"]' },
  ]);
});

const broken: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
  [
    'answers later',
    async () => {
      throw new Error('later');
    },
  ],
  ['is null', () => null],
  ['lacks a list', () => ({ ...own, deletes: undefined })],
  ['lacks `untrusted`', () => ({ ...own, untrusted: undefined })],
  ['reads something other than a place', () => ({ ...own, reads: [null] })],
  ['reads no path', () => ({ ...own, reads: [{ path: 1, inside: true }] })],
  ['runs no program', () => ({ ...own, runs: [{ arguments: [] }] })],
  ['runs without a list of words', () => ({ ...own, runs: [{ program: 'cat', arguments: 'x' }] })],
  ['reaches no host', () => ({ ...own, hosts: [{}] })],
  ['has an `unclear` entry without a reason', () => ({ ...own, unclear: [{ kind: 'code' }] })],
];
test.each(broken)('a tool whose `facts` %s leaves its part unclear, trusted or not', (_what, facts) => {
  for (const trusts of [() => true, () => false]) {
    const made = describe(tool('read_file', facts), { path: 'link' }, { trusts });
    expect(pathsOf(made)).toEqual(['/etc/passwd']);
    expect(kindsOf(made)).toContain('program');
  }
});
test.each(broken)('a describer that %s leaves its part unclear', (_what, answer) => {
  const describer: Describer = { name: 'broken', describe: answer as Describer['describe'] };
  const made = describe(tool('read_file'), { path: 'link' }, { describers: [describer, ...describers] });
  expect(pathsOf(made)).toEqual(['/etc/passwd']);
  expect(made.unclear).toMatchObject([{ kind: 'program', reason: expect.stringContaining('`broken`') }]);
});

test.each([
  { what: 'no describers', options: { view } },
  { what: 'no view', options: { describers } },
  { what: 'names as `trusts`', options: { describers, view, trusts: ['bash'] } },
  { what: 'an unknown option', options: { describers, view, describer: [] } },
])('$what: refused', ({ options }) => {
  expect(() => createFacts(options as unknown as FactsOptions)).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});
