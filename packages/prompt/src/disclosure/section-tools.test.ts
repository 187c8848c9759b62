import {
  defineTool,
  type HoldfastError,
  type Json,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '@holdfast/core';
import { isToolResult } from '@holdfast/core/internal';
import type { Executed } from '@holdfast/core/types';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { policy, promptOf, tool } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { type TestSession, testSession } from '../prompt/test-session.ts';
import type { BindablePrompt } from '../render/types.ts';
import { markdownSection, type Section } from '../section/section.ts';
import { visibilitySlice } from '../section/visibility.ts';
import { showSections } from './show.ts';

const closed = (title: string, rest: Partial<Parameters<typeof markdownSection>[0]> = {}): Section =>
  markdownSection({
    title,
    template: `body of ${title}`,
    summary: `about ${title}`,
    visibility: 'summary',
    ...rest,
  });

/** Calls a tool that the prompt offers in its present state. */
function call(
  prompt: BindablePrompt,
  session: TestSession,
  { name, input }: { name: string; input: Json },
): ToolResult {
  const offered = prompt.render({ session }).tools.find((candidate) => candidate.name === name);
  if (offered?.execute === undefined) throw new Error(`${name} is not offered`);
  // The tools of a prompt use nothing else of their context.
  const result: Executed<unknown> = offered.execute(input, { session } as unknown as ToolContext);
  if (!isToolResult(result)) throw new Error('no result');
  return result;
}

const open = (prompt: BindablePrompt, session: TestSession, ...keys: string[]): string =>
  call(prompt, session, { name: 'open_sections', input: { section_keys: keys, reason: 'why' } }).message;

const read = (prompt: BindablePrompt, session: TestSession, key: string): unknown =>
  call(prompt, session, { name: 'read_section', input: { section_key: key } }).value;

function failure(act: () => unknown): HoldfastError {
  try {
    act();
  } catch (error) {
    return error as HoldfastError;
  }
  throw new Error('it did not throw');
}

const toolNames = (prompt: BindablePrompt, session: TestSession): string[] =>
  prompt.render({ session }).tools.map(({ name }) => name);

test('D06: open_sections opens for good, and its text names what was opened', () => {
  const prompt = promptOf(closed('G', { tools: [tool('t')], policies: [policy('p')] }));
  const session = testSession(visibilitySlice);
  expect(open(prompt, session, 'g')).toContain('Opened `g`');
  const { text, tools, policies } = prompt.render({ session });
  expect(text).toBe('## 1. G (g)\n\nbody of G');
  expect(tools.map(({ name }) => name)).toEqual(['t']);
  expect(policies.get('t')?.map(({ key }) => key)).toEqual(['g/p']);
});

test('D08: only what is still summarised is written', () => {
  const prompt = promptOf(closed('G', { tools: [tool('t')] }), markdownSection({ title: 'Open one', template: '' }));
  const session = testSession(visibilitySlice);
  expect(open(prompt, session, 'open-one', 'g', 'g')).not.toContain('open-one');
  expect(session.events).toEqual([
    { type: 'sections-shown', payload: { prompt: 'tests/prompt', keys: ['g'], visibility: 'full' } },
  ]);
});

test('D12: step by step or all at once, in any order, down to the tool', () => {
  const prompt = promptOf(
    closed('Instructions', {
      children: [closed('Guidelines', { children: [closed('Tools reference', { tools: [tool('leaf')] })] })],
    }),
  );
  const paths = ['instructions', 'instructions.guidelines', 'instructions.guidelines.tools-reference'];
  const steps = testSession(visibilitySlice);
  for (const path of paths) {
    expect(toolNames(prompt, steps)).toEqual(['open_sections']);
    open(prompt, steps, path);
  }
  expect(toolNames(prompt, steps)).toEqual(['leaf']);
  const once = testSession(visibilitySlice);
  expect(open(prompt, once, ...paths.toReversed())).toContain(paths.map((path) => `\`${path}\``).join(', '));
  expect(prompt.render({ session: once })).toEqual(prompt.render({ session: steps }));
});

test('section.unavailable: hidden under a closed section, unknown where nothing is; both tell what can be opened', () => {
  const prompt = promptOf(
    closed('G', { children: [closed('Inner', { tools: [tool('t')] })] }),
    closed('Off', { enabled: () => false }),
    closed('Ref'),
  );
  const session = testSession(visibilitySlice);
  const cases = [
    ['g.inner', 'hidden', 'is under `g`, which must be opened first'],
    ['off', 'hidden', 'is disabled'],
    ['inner', 'unknown', 'is not a section'],
    ['constructor', 'unknown', 'is not a section'],
    ['__proto__', 'unknown', 'is not a section'],
    ['', 'unknown', 'is not a section'],
  ] as const;
  for (const [key, reason, what] of cases) {
    const error = failure(() => open(prompt, session, 'ref', key));
    expect(error).toMatchObject({ code: 'section.unavailable', reason, data: { section: key } });
    expect(error.message).toContain(`\`${key}\` ${what}.`);
    expect(error.message).toContain('Summarized sections: `g`, `ref`.');
    expect(failure(() => read(prompt, session, key))).toMatchObject({ reason });
  }
  expect(session.events).toEqual([]);
});

test('when nothing is left to open, that is a failure', () => {
  const prompt = promptOf(closed('G', { tools: [tool('t')] }), markdownSection({ title: 'Plain', template: '' }));
  const session = testSession(visibilitySlice);
  expect(failure(() => open(prompt, session, 'plain'))).toMatchObject({
    code: 'section.unavailable',
    reason: 'open',
    message: 'Already open: `plain`. Summarized sections: `g`.',
  });
  expect(failure(() => prompt.expand([], session))).toMatchObject({ code: 'section.unavailable', reason: 'open' });
  open(prompt, session, 'g');
  expect(failure(() => prompt.expand(['g'], session))).toMatchObject({
    code: 'section.unavailable',
    reason: 'open',
    message: 'Already open: `g`. No section is summarized.',
  });
  expect(session.events).toHaveLength(1);
});

test('many summaries are listed up to a bound, and long keys are cut', () => {
  const prompt = promptOf(...Array.from({ length: 40 }, (_, index) => closed(`S${index}`)));
  const { message } = failure(() => prompt.expand(['x'.repeat(10_000)], testSession(visibilitySlice)));
  expect(message).toContain('`s29`, …');
  expect(message.length).toBeLessThan(600);
});

test('D14: read_section gives the whole subtree in full, with what is under it', () => {
  const params = v.object({ word: v.string() });
  const prompt = createPrompt({
    ns: 'tests',
    key: 'read',
    sections: [
      markdownSection({ title: 'First', template: '' }),
      markdownSection({
        title: 'Ref',
        template: 'The reference.',
        summary: 'In short.',
        visibility: 'summary',
        children: [
          markdownSection({ title: 'Plain', template: 'no params' }),
          markdownSection({ title: 'With', template: 'a $word', params }),
          closed('Nested'),
          markdownSection({ title: 'Off', template: 'off', enabled: () => false }),
        ],
      }),
    ],
  }).bind({ word: 'value' });
  const session = testSession(visibilitySlice);
  const before = prompt.render({ session });
  expect(read(prompt, session, 'ref')).toBe(
    [
      '## 2. Ref (ref)',
      'The reference.',
      '### 2.1. Plain (ref.plain)',
      'no params',
      '### 2.2. With (ref.with)',
      'a value',
      '### 2.3. Nested (ref.nested)',
      'body of Nested',
    ].join('\n\n'),
  );
  // D16: it stays as it was.
  expect(prompt.render({ session })).toBe(before);
  expect(session.events).toEqual([]);
});

test('what was read says nothing of tools that are not offered', () => {
  const shown = defineTool({
    name: 'shown',
    description: 'Shown.',
    inputSchema: v.object({ q: v.string() }),
    examples: [{ description: 'Secret call', input: { q: 'x' }, output: 'secret' }],
  });
  const step = { tool: 'shown', description: 'Use it', input: { q: 'x' }, output: 'secret' };
  const task = { objective: 'Secret task', steps: [step], outcome: 'done' };
  const plain = { objective: 'Plain task', steps: [{ ...step, tool: 't', input: {} }], outcome: 'done' };
  const prompt = promptOf(
    closed('G', { tools: [shown], taskExamples: [task] }),
    closed('Ref', { taskExamples: [task, plain] }),
    markdownSection({ title: 'Open', template: '', tools: [tool('t')] }),
  );
  const session = testSession(visibilitySlice);
  expect(read(prompt, session, 'g')).toBe('## 1. G (g)\n\nbody of G');
  expect(read(prompt, session, 'ref')).not.toContain('Secret');
  expect(read(prompt, session, 'ref')).toContain('Plain task');
  open(prompt, session, 'g');
  expect(read(prompt, session, 'ref')).toContain('Secret task');
});

test('reading what is open is a failure that says so', () => {
  const prompt = promptOf(closed('Ref'), closed('Other', { visibility: 'full' }));
  const session = testSession(visibilitySlice);
  expect(failure(() => read(prompt, session, 'other'))).toMatchObject({ code: 'section.unavailable', reason: 'open' });
});

test('a section that cannot be rendered fails the call that opens it and stays closed', () => {
  const prompt = promptOf(
    closed('G', {
      tools: [tool('t')],
      children: [markdownSection({ title: 'Needs', template: '$word', params: v.object({ word: v.string() }) })],
    }),
  );
  const session = testSession(visibilitySlice);
  expect(failure(() => open(prompt, session, 'g'))).toMatchObject({ code: 'prompt.invalid', reason: 'param.missing' });
  expect(session.events).toEqual([]);
  const bound = prompt.bind({ word: 'w' });
  open(bound, session, 'g');
  expect(bound.render({ session }).text).toContain('w');
});

test('E18: the prompt’s policies, and no others, are in force for both tools, and may mention them', () => {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'policies',
    policies: [policy('all', ['open_sections', 'read_section', 't'])],
    sections: [closed('G', { tools: [tool('t')], policies: [policy('p')] }), closed('Ref')],
  });
  const { policies, toolParamDescriptions } = prompt.render();
  const inForce = [...policies].map(([name, bound]) => [name, bound.map(({ key }) => key)]);
  expect(inForce).toEqual([
    ['open_sections', ['prompt/all']],
    ['read_section', ['prompt/all']],
  ]);
  expect(toolParamDescriptions.get('open_sections')?.get('section_keys')).toMatchObject({ type: 'array' });
  expect([...prompt.toolNames]).toEqual(['t', 'open_sections', 'read_section']);
});

test('without a summary nothing can be opened, and a policy cannot mention what would', () => {
  const plain = markdownSection({ title: 'Plain', template: '', policies: [policy('p', ['open_sections'])] });
  expect(() => promptOf(plain)).toThrow(expect.objectContaining({ code: 'policy.invalid', reason: 'tool.unknown' }));
  expect([...promptOf(markdownSection({ title: 'A', template: '', tools: [tool('t')] })).toolNames]).toEqual(['t']);
});

test('one opens, the other reads; both are declared as such', () => {
  const prompt = promptOf(closed('G', { tools: [tool('t')] }), closed('Ref'));
  const declared = (offered: readonly Tool[]): unknown => offered.map(({ name, effects }) => [name, effects]);
  expect(declared(prompt.render().tools)).toEqual([
    ['open_sections', 'state'],
    ['read_section', 'none'],
  ]);
  // Compiled tools are kept by object: they must not be new ones at every change.
  const session = testSession(visibilitySlice);
  const before = prompt.render({ session }).tools.at(-1);
  session.dispatch(showSections(prompt, ['g'], 'full'));
  expect(prompt.render({ session }).tools.at(-1)).toBe(before);
});
