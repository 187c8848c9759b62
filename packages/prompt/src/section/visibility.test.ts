import * as v from 'valibot';
import { expect, test } from 'vitest';
import { clearSections, showSections } from '../disclosure/show.ts';
import { promptOf, tool } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { testSession } from '../prompt/test-session.ts';
import { markdownSection } from './section.ts';
import { visibilitySlice } from './visibility.ts';

const reference = markdownSection({
  title: 'Reference',
  key: 'ref',
  template: 'All of it.',
  summary: 'What the words mean.',
  visibility: 'summary',
});
const files = markdownSection({
  title: 'Files',
  template: 'How to work on files.',
  summary: 'Works on files.',
  visibility: 'summary',
  tools: [tool('read_file')],
  children: [markdownSection({ title: 'Danger', template: 'Beware.', tools: [tool('wipe')] })],
});

const names = ({ tools }: { tools: readonly { name: string }[] }): string[] => tools.map(({ name }) => name);

test('a summary stands for the section, its tools and everything under it', () => {
  const { text, tools, policies, toolParamDescriptions } = promptOf(files).render();
  expect(text).toBe(
    '## 1. Files (files)\n\nWorks on files.\n\nThis is a summary. To get the section `files` and its tools, call `open_sections`.',
  );
  expect(names({ tools })).toEqual(['open_sections']);
  expect([...policies.keys()]).toEqual(['open_sections']);
  expect([...toolParamDescriptions.keys()]).toEqual(['open_sections']);
});

test('D02: without tools under it, it is read', () => {
  const { text, tools } = promptOf(reference).render();
  expect(text).toContain('This is a summary. To read the section `ref`, call `read_section`.');
  expect(names({ tools })).toEqual(['read_section']);
});

test('both tools are there while both are needed, after those of the sections, and none when nothing is summarised', () => {
  const prompt = promptOf(reference, files, markdownSection({ title: 'Open', template: '', tools: [tool('t')] }));
  expect(names(prompt.render())).toEqual(['t', 'open_sections', 'read_section']);
  const session = testSession(visibilitySlice);
  session.dispatch(showSections(prompt, ['files'], 'full'));
  expect(names(prompt.render({ session }))).toEqual(['read_file', 'wipe', 't', 'read_section']);
  session.dispatch(showSections(prompt, ['ref'], 'full'));
  expect(names(prompt.render({ session }))).toEqual(['read_file', 'wipe', 't']);
});

test('D18: what the session says comes first, until it is cleared', () => {
  const prompt = promptOf(files, reference);
  const session = testSession(visibilitySlice);
  const isOpen = (): boolean[] => {
    const { text } = prompt.render({ session });
    return [text.includes('How to work on files.'), text.includes('All of it.')];
  };
  expect(isOpen()).toEqual([false, false]);
  session.dispatch(showSections(prompt, ['files', 'ref'], 'full'));
  expect(isOpen()).toEqual([true, true]);
  session.dispatch(showSections(prompt, ['files'], 'summary'));
  expect(isOpen()).toEqual([false, true]);
  session.dispatch(showSections(prompt, ['files'], 'full'));
  session.dispatch(clearSections(prompt, ['files']));
  expect(isOpen()).toEqual([false, true]);
  session.dispatch(showSections(prompt, ['files'], 'full'));
  session.dispatch(clearSections(prompt));
  expect(isOpen()).toEqual([false, false]);
  expect(session.read(visibilitySlice).size).toBe(0);
});

test('prompts keep their sections apart, also where one id is the start of another', () => {
  const [one, other] = ['a', 'ab'].map((key) => createPrompt({ ns: 'tests', key, sections: [files] }));
  if (one === undefined || other === undefined) throw new Error('there are two');
  const session = testSession(visibilitySlice);
  session.dispatch(showSections(one, ['files'], 'full'));
  expect(names(other.render({ session }))).toEqual(['open_sections']);
  session.dispatch(showSections(other, ['files'], 'full'));
  session.dispatch(clearSections(one));
  expect(names(one.render({ session }))).toEqual(['open_sections']);
  expect(names(other.render({ session }))).toEqual(['read_file', 'wipe']);
});

test('a section that is open can be closed by the session; one without a summary cannot', () => {
  const prompt = promptOf(
    markdownSection({ title: 'Long', template: 'all of it', summary: 'short' }),
    markdownSection({ title: 'Plain', template: 'plain' }),
  );
  const session = testSession(visibilitySlice);
  session.dispatch(showSections(prompt, ['long'], 'summary'));
  expect(prompt.render({ session }).text).not.toContain('all of it');
  expect(() => showSections(prompt, ['long', 'plain'], 'summary')).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'summary.missing',
      data: { reason: 'summary.missing', section: 'plain' },
    }),
  );
  // Foreign content in the slice.
  const payload = { prompt: 'tests/prompt', keys: ['plain'], visibility: 'summary' };
  session.dispatch({ type: 'sections-shown', payload });
  expect(prompt.render({ session }).text).toContain('plain');
});

test.each([
  ['sections-shown', { prompt: 'p', keys: ['a'] }],
  ['sections-shown', { prompt: 'p', keys: ['a'], visibility: 'open' }],
  ['sections-shown', { prompt: 'p', visibility: 'full' }],
  ['sections-cleared', { keys: ['a'] }],
  ['sections-cleared', { prompt: 'p', keys: 'a' }],
  ['sections-cleared', null],
])('%s with the payload %j is event.invalid', (type, payload) => {
  expect(() => testSession(visibilitySlice).dispatch({ type, payload })).toThrow(
    expect.objectContaining({ code: 'event.invalid' }),
  );
});

test('events for sections that are not there are section.unavailable: unknown', () => {
  for (const key of ['nope', 'toString', 'files.']) {
    expect(() => showSections(promptOf(files), [key], 'full')).toThrow(
      expect.objectContaining({ code: 'section.unavailable', data: { reason: 'unknown', section: key } }),
    );
    expect(() => clearSections(promptOf(files), ['files', key])).toThrow(
      expect.objectContaining({ code: 'section.unavailable', data: { reason: 'unknown', section: key } }),
    );
  }
});

test('visibility may depend on parameters and session; where the session decides, it is not asked', () => {
  const asked: unknown[] = [];
  const prompt = promptOf(
    markdownSection({
      title: 'A',
      template: 'open',
      summary: 'closed',
      params: v.object({ mode: v.optional(v.string(), 'short') }),
      visibility({ mode }, given) {
        asked.push([mode, given === session]);
        return mode === 'long' ? 'full' : 'summary';
      },
    }),
  );
  const session = testSession(visibilitySlice);
  expect(prompt.render().text).toContain('closed');
  expect(prompt.bind({ mode: 'long' }).render({ session }).text).toContain('open');
  expect(asked).toEqual([
    ['short', false],
    ['long', true],
  ]);
  session.dispatch(showSections(prompt, ['a'], 'full'));
  expect(prompt.render({ session }).text).toContain('open');
  expect(asked).toHaveLength(2);
});

test('`visibility` answers full or summary, or it is section.rule.failed: visibility.invalid', () => {
  for (const answer of [true, undefined, Promise.resolve('full'), 'toString']) {
    // The cast stands for a host that is written without types.
    const visibility = (() => answer) as unknown as () => 'full';
    const prompt = promptOf(markdownSection({ title: 'S', template: '', summary: 's', visibility }));
    expect(() => prompt.render()).toThrow(
      expect.objectContaining({ code: 'section.rule.failed', reason: 'visibility.invalid' }),
    );
  }
});

test('the session is read for visibility only where a section has a summary, once a render', () => {
  const session = testSession(visibilitySlice);
  promptOf(markdownSection({ title: 'Plain', template: '' })).render({ session });
  expect(session.reads).toBe(0);
  promptOf(reference, files).render({ session });
  expect(session.reads).toBe(1);
});

test('the slice comes with the prompt where a section has a summary, beside those of its sections', () => {
  const own = visibilitySlice;
  const plain = markdownSection({ title: 'Plain', template: '' });
  expect(promptOf(plain).slices).toEqual([]);
  expect(promptOf(plain, markdownSection({ title: 'B', template: '', children: [reference] })).slices).toEqual([own]);
});

test.each<{ title: string; rest: Pick<Parameters<typeof markdownSection>[0], 'visibility' | 'summary'> }>([
  { title: '`summary` without one', rest: { visibility: 'summary' } },
  { title: 'a function without one', rest: { visibility: () => 'full' } },
  { title: '`summary` with a blank one', rest: { visibility: 'summary', summary: ' \n' } },
])('D04: $title is prompt.invalid: summary.missing, by the path', ({ rest }) => {
  const inner = markdownSection({ title: 'In', template: '', ...rest });
  expect(() => promptOf(markdownSection({ title: 'Top', template: '', children: [inner] }))).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'summary.missing',
      data: { reason: 'summary.missing', section: 'top.in' },
    }),
  );
});

test('a summary is held to the section’s parameters, and filled in like a body', () => {
  const params = v.object({ word: v.string() });
  const of = (summary: string) =>
    promptOf(markdownSection({ title: 'S', template: '', params, visibility: 'summary', summary }));
  expect(of('\n  On $word,\n  for $$5.\n').bind({ word: 'w' }).render().text).toContain('\n\nOn w,\nfor $5.\n\n');
  expect(() => of('$words')).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'placeholder.unknown',
      message: expect.stringContaining('summary of section `s`'),
    }),
  );
  expect(() => of('${word')).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'placeholder.invalid' }),
  );
});

test('hidden: what a closed parent hides is not asked for and needs no parameters', () => {
  const prompt = promptOf(
    markdownSection({
      title: 'Outer',
      template: '$missing',
      summary: 'Closed.',
      visibility: 'summary',
      params: v.object({ missing: v.string() }),
      children: [
        markdownSection({
          title: 'Inner',
          template: '',
          enabled() {
            throw new Error('asked');
          },
        }),
      ],
    }),
  );
  // The summary fills its own placeholders from the same parameters, so those have to be there.
  expect(() => prompt.render()).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'param.missing' }));
  expect(prompt.bind({ missing: 'm' }).render().text).toContain('Closed.');
});

test('the same rendering comes back while nothing has changed, and an equal one when it has changed back', () => {
  const prompt = promptOf(files, reference);
  const session = testSession(visibilitySlice);
  const closed = prompt.render({ session });
  expect(prompt.render({ session })).toBe(closed);
  session.dispatch(showSections(prompt, ['files'], 'full'));
  const open = prompt.render({ session });
  expect(open).not.toBe(closed);
  expect(prompt.render({ session })).toBe(open);
  session.dispatch(clearSections(prompt));
  expect(prompt.render({ session })).toEqual(closed);
});
