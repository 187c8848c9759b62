import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { clearSections, showSections } from '../disclosure/show.ts';
import { markdownSection } from '../section/section.ts';
import { allComplete, filesExist } from './completion.ts';
import { everyCalls, staticFeedback } from './feedback.ts';
import { promptOf } from './fixtures.ts';
import { createPrompt } from './prompt.ts';

/** Values that only untyped programs can pass. */
const untyped = {
  createPrompt: createPrompt as unknown as (definition: object) => unknown,
  markdownSection: markdownSection as unknown as (definition: object) => unknown,
  staticFeedback: staticFeedback as unknown as (options: object) => unknown,
  filesExist: filesExist as unknown as (paths: unknown) => unknown,
  allComplete: allComplete as unknown as (checkers: unknown) => unknown,
  showSections: showSections as unknown as (prompt: unknown, keys: unknown, visibility: string) => unknown,
  clearSections: clearSections as unknown as (prompt: unknown, keys: unknown) => unknown,
};
const base = { ns: 'tests', key: 'untyped', sections: [] };
const section = markdownSection({ title: 'A', template: 'a', summary: 's' });
const provider = staticFeedback({ name: 'p', text: 'p', triggers: [everyCalls(1)] });

test.each<[string, string, () => unknown]>([
  ['an ns that is not a string', 'prompt.invalid: ns.invalid', () => untyped.createPrompt({ ...base, ns: {} })],
  ['no key', 'prompt.invalid: key.invalid', () => untyped.createPrompt({ ...base, key: undefined })],
  ['no sections', 'options.invalid', () => untyped.createPrompt({ ...base, sections: undefined })],
  ['one section in place of a list', 'options.invalid', () => untyped.createPrompt({ ...base, sections: section })],
  ['one policy in place of a list', 'options.invalid', () => untyped.createPrompt({ ...base, policies: {} })],
  ['one provider in place of a list', 'options.invalid', () => untyped.createPrompt({ ...base, feedback: provider })],
  ['a plain object', 'prompt.invalid', () => untyped.createPrompt({ ...base, sections: [{ title: 'A', key: 'a' }] })],
  ['null', 'prompt.invalid', () => untyped.createPrompt({ ...base, sections: [null] })],
  [
    'a child that is not a section',
    'prompt.invalid',
    () => untyped.createPrompt({ ...base, sections: [{ ...section, children: ['b'] }] }),
  ],
  ['no template', 'prompt.invalid', () => untyped.markdownSection({ title: 'A' })],
  ['no title', 'prompt.invalid', () => untyped.markdownSection({ template: 'a' })],
  ['maxCorrections for nothing', 'options.invalid', () => untyped.createPrompt({ ...base, maxCorrections: 2 })],
  ['maxReturns for nothing', 'options.invalid', () => untyped.createPrompt({ ...base, maxReturns: 2 })],
  ['no triggers', 'prompt.invalid: feedback', () => untyped.staticFeedback({ name: 'a', text: 'a' })],
  ['a path in place of a list', 'prompt.invalid: completion', () => untyped.filesExist('report.md')],
  ['no checkers', 'prompt.invalid: completion', () => untyped.allComplete(undefined)],
  ['a key in place of a list', 'options.invalid', () => untyped.showSections(promptOf(section), 'a', 'full')],
  ['a key to clear', 'options.invalid', () => untyped.clearSections(promptOf(section), 'a')],
  ['nothing to bind', 'options.invalid', () => promptOf(section).bind(null as unknown as object)],
])('%s is %s', (_title, code, make) => {
  expect(make).toThrow(expect.toSatisfy((error: { code: string }) => describeCode(error) === code));
});
