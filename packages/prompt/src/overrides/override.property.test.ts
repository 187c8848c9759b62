import type { Json, Tool } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tool } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { markdownSection, type TaskExample, type Visibility } from '../section/section.ts';
import type { OverrideDocument } from './document.ts';
import { loadOverrides, saveOverrides, seedOverrides } from './override.ts';
import type { AppliedOverride } from './resolve.ts';
import { memoryOverrides } from './store.ts';

/** Everything of a prompt that can be overridden. */
interface Texts {
  readonly body: string;
  readonly summary: string;
  readonly visibility: Visibility;
  readonly objective: string | undefined;
  readonly description: string;
  readonly parameter: string | undefined;
  readonly example: Json | undefined;
}

function toTool({ description, parameter, example }: Texts): Tool {
  return {
    ...tool('act'),
    description,
    inputSchema: jsonSchema({
      type: 'object',
      properties: { p: parameter === undefined ? true : { description: parameter } },
    }),
    examples: example === undefined ? [] : [{ description: 'One', input: { p: example }, output: null }],
  };
}

function toTasks({ objective }: Texts): readonly TaskExample[] {
  if (objective === undefined) return [];
  return [{ objective, steps: [{ tool: 'act', description: 'Do', input: {}, output: null }], outcome: 'Done.' }];
}

function toPrompt(texts: Texts) {
  const { body, summary, visibility } = texts;
  const section = markdownSection({
    title: 'A',
    template: body,
    summary,
    visibility: summary === '' ? 'full' : visibility,
    tools: [toTool(texts)],
    taskExamples: toTasks(texts),
  });
  return createPrompt({ ns: 'tests', key: 'prompt', sections: [section] });
}

const word = fc.constantFrom('', 'a', 'a ', ' a', 'A', 'b', 'a\nb', '$$', 'é', 'é');
const said = fc.constantFrom('a', 'A', 'b', 'a b', 'a  b');
const texts: fc.Arbitrary<Texts> = fc.record({
  body: word,
  summary: word.filter((text) => text === '' || text.trim() !== ''),
  visibility: fc.constantFrom('full', 'summary'),
  objective: fc.option(said, { nil: undefined }),
  description: said,
  parameter: fc.option(said, { nil: undefined }),
  example: fc.option(fc.constantFrom<Json[]>(1, '1', null, [1], { a: 1, b: 2 }, { b: 2, a: 1 }), { nil: undefined }),
});

/** The pinned texts by place, as they are read: without shared indentation and outer blank lines. */
function toPinned(given: Texts): ReadonlyMap<string, Json> {
  const { body, summary, visibility, objective, description, parameter, example } = given;
  const all: Record<string, Json | undefined> = {
    body: body.replace(/^[ \t]*/, ''),
    summary: summary === '' ? undefined : summary.replace(/^[ \t]*/, ''),
    visibility: summary === '' ? 'full' : visibility,
    taskExamples: objective,
    description,
    'parameters.p': parameter,
    examples: example === undefined ? undefined : [example],
  };
  return new Map(Object.entries(all).flatMap(([part, value]) => (value === undefined ? [] : [[part, value] as const])));
}

function equal(one: Json | undefined, other: Json | undefined): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    return false;
  }
}

test('every override goes stale exactly when its text changes', async () => {
  await fc.assert(
    fc.asyncProperty(texts, texts, async (before, after) => {
      const store = memoryOverrides();
      await seedOverrides(toPrompt(before), { store });
      const { applied, stale, unknown, invalid } = await loadOverrides(toPrompt(after), { store });
      const [then, now] = [toPinned(before), toPinned(after)];
      const partsOf = (list: readonly AppliedOverride[]) => list.map(({ part }) => part).sort();
      const changed = [...then.keys()].filter((part) => !equal(then.get(part), now.get(part)));
      expect({ stale: partsOf(stale), unknown, invalid }).toEqual({ stale: changed.sort(), unknown: [], invalid: [] });
      expect(partsOf(applied)).toEqual([...then.keys()].filter((part) => !changed.includes(part)).sort());
    }),
    { numRuns: 50 },
  );
});

/** The texts of `theirs` with the pins of `mine`. Both have the same places. */
function pin(theirs: Json, mine: Json): Json {
  if (!isPlainObject(theirs) || !isPlainObject(mine)) return theirs;
  return Object.fromEntries(
    Object.entries(mine).map(([key, own]) => {
      // Both came from JSON.
      const other = theirs[key] as Json;
      return [key, key === 'hash' ? (own as Json) : key === 'value' ? other : pin(other, own as Json)];
    }),
  );
}

test('a prompt whose texts are all overridden by those of another one tells a model what the other one does', async () => {
  const full: fc.Arbitrary<Texts> = fc.record({
    body: word,
    summary: word.filter((text) => text.trim() !== ''),
    visibility: fc.constantFrom('full', 'summary'),
    objective: said,
    description: said,
    parameter: said,
    example: fc.constantFrom<Json[]>(1, '1', null, [1], { a: 1 }),
  });
  await fc.assert(
    fc.asyncProperty(full, full, async (mine, theirs) => {
      const store = memoryOverrides();
      const prompt = toPrompt(mine);
      const other = toPrompt(theirs);
      const [own, given] = await Promise.all([
        seedOverrides(prompt, { store }),
        seedOverrides(other, { store, tag: 'b' }),
      ]);
      const merged = pin(JSON.parse(JSON.stringify(given.document)), JSON.parse(JSON.stringify(own.document)));
      // Of the form of the two that it was made of.
      const document = { ...(merged as unknown as OverrideDocument), tag: 'b' };
      await saveOverrides(prompt, document, { store });
      const { prompt: changed } = await loadOverrides(prompt, { store, tag: 'b' });
      const [shown, wanted] = [changed.render(), other.render()];
      expect(shown.text).toBe(wanted.text);
      expect(shown.toolParamDescriptions).toEqual(wanted.toolParamDescriptions);
      const [declared] = wanted.tools;
      const told = shown.declarations?.get('act');
      if (declared?.name === 'act') expect(told?.description ?? mine.description).toBe(theirs.description);
      // The prompt's own texts stay.
      expect(prompt.render().text).toBe(toPrompt(mine).render().text);
    }),
    { numRuns: 30 },
  );
});
