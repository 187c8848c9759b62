import { defineTool, isHoldfastError, type Tool } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptOf } from '../prompt/fixtures.ts';
import { type TestSession, testSession } from '../prompt/test-session.ts';
import type { BindablePrompt } from '../render/types.ts';
import { markdownSection, type Section, type Visibility } from '../section/section.ts';
import { visibilitySlice } from '../section/visibility.ts';
import { clearSections, showSections } from './show.ts';

/** A section to be made. */
interface Spec {
  readonly on: boolean;
  /** `undefined`: it has no summary. */
  readonly visibility: Visibility | undefined;
  readonly hasTool: boolean;
  /** Which of the prompt's tools its task example is about, if it has one. */
  readonly task: number | undefined;
  readonly children: readonly Spec[];
}

const { spec } = fc.letrec<{ spec: Spec }>((tie) => ({
  spec: fc.record({
    on: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    visibility: fc.constantFrom<Visibility | undefined>('full', 'summary', 'summary', undefined),
    hasTool: fc.boolean(),
    task: fc.option(fc.nat(20), { nil: undefined }),
    children: fc.oneof({ maxDepth: 4 }, fc.constant([]), fc.array(tie('spec'), { maxLength: 3 })),
  }),
}));
const specs = fc.array(spec, { minLength: 1, maxLength: 3 });

/** A spec in its place. */
interface Placed extends Spec {
  readonly path: string;
  readonly within: readonly Placed[];
}

function place(siblings: readonly Spec[], parent = ''): readonly Placed[] {
  return siblings.map((one, index) => {
    const path = `${parent}s${index}`;
    return { ...one, path, within: place(one.children, `${path}.`) };
  });
}

const flatten = (siblings: readonly Placed[]): readonly Placed[] =>
  siblings.flatMap((one) => [one, ...flatten(one.within)]);
const toolOf = (path: string): string => `t_${path.replaceAll('.', '_')}`;

/** Each text names its section and what it is, so that a rendered text can be read back. */
function build(siblings: readonly Placed[], tools: readonly string[]): Section[] {
  return siblings.map((one) => {
    const example = { description: `<example ${one.path}>`, input: {}, output: null };
    const own: Tool[] = one.hasTool
      ? [defineTool({ name: toolOf(one.path), description: 'A tool.', examples: [example] })]
      : [];
    const about = taskToolOf(one, tools);
    const step = { tool: about ?? '', description: 'Do it', input: {}, output: null };
    return markdownSection({
      title: one.path,
      key: one.path.split('.').at(-1) ?? '',
      template: `<body ${one.path}>`,
      tools: own,
      children: build(one.within, tools),
      ...(one.on ? {} : { enabled: () => false }),
      ...(one.visibility === undefined ? {} : { summary: `<summary ${one.path}>`, visibility: one.visibility }),
      ...(about === undefined
        ? {}
        : { taskExamples: [{ objective: `<task ${one.path}>`, steps: [step], outcome: 'Done.' }] }),
    });
  });
}

function taskToolOf({ task }: Spec, tools: readonly string[]): string | undefined {
  return task === undefined ? undefined : tools[task % tools.length];
}

interface Expected {
  readonly marks: readonly string[];
  readonly tools: readonly string[];
}

/** An independent model of the rules, not derived from the code. */
function expectOf(placed: readonly Placed[], told: ReadonlyMap<string, Visibility>): Expected {
  const all = flatten(placed);
  const toolPaths = all.filter(({ hasTool }) => hasTool).map(({ path }) => path);
  const byPath = new Map(all.map((one) => [one.path, one]));
  const isClosed = ({ path, visibility }: Placed): boolean =>
    visibility !== undefined && (told.get(path) ?? visibility) === 'summary';
  const above = (path: string): readonly Placed[] => {
    const keys = path.split('.');
    return keys.slice(0, -1).flatMap((_key, index) => byPath.get(keys.slice(0, index + 1).join('.')) ?? []);
  };
  const there = all.filter(({ on, path }) => on && above(path).every((outer) => outer.on && !isClosed(outer)));
  const open = there.filter((one) => !isClosed(one));
  const closed = there.filter(isClosed);
  const offered = open.filter(({ hasTool }) => hasTool).map(({ path }) => toolOf(path));
  const hasToolsUnder = ({ path }: Placed): boolean =>
    toolPaths.some((toolPath) => toolPath === path || toolPath.startsWith(`${path}.`));
  return {
    marks: there.flatMap((one) => {
      if (isClosed(one)) return [`<summary ${one.path}>`];
      const about = taskToolOf(one, toolPaths.map(toolOf));
      return [
        `<body ${one.path}>`,
        ...(one.hasTool ? [`<example ${one.path}>`] : []),
        ...(about !== undefined && offered.includes(about) ? [`<task ${one.path}>`] : []),
      ];
    }),
    tools: [
      ...offered,
      ...(closed.some(hasToolsUnder) ? ['open_sections'] : []),
      ...(closed.some((one) => !hasToolsUnder(one)) ? ['read_section'] : []),
    ],
  };
}

function promptFrom(placed: readonly Placed[]): BindablePrompt {
  const tools = flatten(placed).flatMap(({ hasTool, path }) => (hasTool ? [toolOf(path)] : []));
  return promptOf(...build(placed, tools));
}

/** Each step tells the session something about sections picked by number. */
const steps = fc.array(
  fc.record({
    act: fc.constantFrom('full' as const, 'summary' as const, 'clear' as const, 'clear-all' as const),
    picks: fc.array(fc.nat(40), { maxLength: 4 }),
  }),
  { maxLength: 6 },
);

test('what is shown follows from sections and session; nothing of what is hidden appears', () => {
  fc.assert(
    fc.property(specs, steps, (trees, told) => {
      const placed = place(trees);
      const all = flatten(placed);
      const prompt = promptFrom(placed);
      const session = testSession(visibilitySlice);
      const kept = new Map<string, Visibility>();
      for (const { act, picks } of [{ act: 'full' as const, picks: [] }, ...told]) {
        const picked = picks
          .flatMap((pick) => all[pick % all.length] ?? [])
          .filter(({ visibility }) => visibility !== undefined);
        const keys = picked.map(({ path }) => path);
        if (act === 'clear-all') {
          session.dispatch(clearSections(prompt));
          kept.clear();
        } else if (act === 'clear') {
          session.dispatch(clearSections(prompt, keys));
          for (const key of keys) kept.delete(key);
        } else {
          session.dispatch(showSections(prompt, keys, act));
          for (const key of keys) kept.set(key, act);
        }
        const { text, tools, policies, toolParamDescriptions } = prompt.render({ session });
        const expected = expectOf(placed, kept);
        expect(text.match(/<[^>]+>/g) ?? []).toEqual(expected.marks);
        expect(tools.map(({ name }) => name)).toEqual(expected.tools);
        expect([...policies.keys()]).toEqual(expected.tools);
        expect([...toolParamDescriptions.keys()]).toEqual(expected.tools);
        // Byte for byte, whatever was rendered before, and the same object while nothing changes.
        expect(promptFrom(placed).render({ session }).text).toBe(text);
        expect(prompt.render({ session }).tools).toBe(tools);
      }
    }),
  );
});

/** Opens what can be opened of `keys`, again and again in this order, until nothing changes. */
function openAll(prompt: BindablePrompt, keys: readonly string[], session: TestSession): readonly string[] {
  const opened: string[] = [];
  for (let before = -1; before !== opened.length; ) {
    before = opened.length;
    for (const key of keys) {
      try {
        prompt.expand([key], session);
        opened.push(key);
      } catch (error) {
        if (!isHoldfastError(error) || !['hidden', 'open'].includes(error.reason ?? '')) throw error;
      }
    }
  }
  return opened;
}

test('sections opened in any order, or all at once, give the same text', () => {
  fc.assert(
    fc.property(specs, fc.array(fc.nat(40), { maxLength: 8 }), fc.infiniteStream(fc.nat()), (trees, picks, random) => {
      const placed = place(trees);
      const all = flatten(placed);
      const prompt = promptFrom(placed);
      const keys = picks.flatMap((pick) => all[pick % all.length]?.path ?? []);
      const shuffled = keys.map((key) => ({ key, at: random.next().value ?? 0 })).sort((a, b) => a.at - b.at);
      const [one, other, once] = [
        testSession(visibilitySlice),
        testSession(visibilitySlice),
        testSession(visibilitySlice),
      ];
      const opened = openAll(prompt, keys, one);
      expect(
        openAll(
          prompt,
          shuffled.map(({ key }) => key),
          other,
        ),
      ).toHaveLength(opened.length);
      if (opened.length > 0) prompt.expand(opened.toReversed(), once);
      const { text } = prompt.render({ session: one });
      expect(prompt.render({ session: other }).text).toBe(text);
      expect(prompt.render({ session: once }).text).toBe(text);
      // No other section was written to, and nothing twice.
      expect(one.read(visibilitySlice).size).toBe(opened.length);
    }),
  );
});
