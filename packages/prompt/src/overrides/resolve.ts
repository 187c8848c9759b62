import type { Json, JsonObject, Schema } from '@holdfast/core';
import type { ToolExample } from '@holdfast/core/types';
import { withTree } from '../prompt/prompt.ts';
import { type BindablePrompt, partsOf } from '../render/types.ts';
import type { SectionNode, SectionTool } from '../section/node.ts';
import type { TaskExample } from '../section/section.ts';
import { mapTree, type SectionTree } from '../section/tree.ts';
import { type Fitted, overrideSection, overrideTool } from './apply.ts';
import { hashOverridden, type OverrideEntry, type OverridePlace } from './document.ts';
import type { ReadOverrides } from './read.ts';

/** An override that is in force. */
export interface AppliedOverride extends OverridePlace {
  /** The prompt's own text, as a string; `null` for none. */
  readonly current: Json;
  /** Of `current`: what an override has to be pinned to. */
  readonly hash: string | null;
  /** The replacement. */
  readonly override: Json;
  /** False for a text seeded by `seedOverrides` and not edited since. */
  readonly edited: boolean;
}

/** An override that was left out. */
export interface SkippedOverride extends AppliedOverride {
  /** A clause for people. */
  readonly why: string;
}

/** The result for each override of a document, in order. */
export interface OverrideReport {
  readonly applied: readonly AppliedOverride[];
  /** Pinned to something else than what the prompt says now. */
  readonly stale: readonly SkippedOverride[];
  /** Of what the prompt does not have, or what must not be overridden. */
  readonly unknown: readonly SkippedOverride[];
  /** Badly written, or not fit for their place. */
  readonly invalid: readonly SkippedOverride[];
}

/** Puts what was read into `prompt`. @throws HoldfastError `prompt.invalid`. */
export async function resolveOverrides<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  { entries, problems }: ReadOverrides,
): Promise<OverrideReport & { readonly prompt: BindablePrompt<Input, Output> }> {
  const { tree, output } = partsOf(prompt);
  const places = new Map(listPlaces(tree).map((found) => [toId(found.place), found]));
  const judged = await Promise.all(entries.map((entry) => judge(entry, places.get(toId(entry.place)), tree)));
  // An unedited text equals the prompt's own.
  const wanted = judged.filter(({ type, report }) => type === 'applied' && report.edited).map(({ entry }) => entry);
  const unfit = new Map<OverrideEntry, string>();
  const next = overrideTree(tree, { wanted, output, unfit });
  const invalid = judged.flatMap(({ entry, report }) => {
    const why = unfit.get(entry);
    return why === undefined ? [] : [{ ...report, why }];
  });
  const listOf = (wantedType: Judged['type']): readonly SkippedOverride[] =>
    judged.filter(({ type, entry }) => type === wantedType && !unfit.has(entry)).map(({ report }) => report);
  return {
    prompt: unfit.size === wanted.length ? prompt : withTree(prompt, next),
    applied: listOf('applied').map(({ why: _why, ...applied }) => applied),
    stale: listOf('stale'),
    unknown: listOf('unknown'),
    invalid: [...problems.map(({ place, why }) => ({ ...place, ...nothingKnown, why })), ...invalid],
  };
}

/** About a part of a document that could not be read. */
const nothingKnown = { current: null, hash: null, override: null, edited: true } as const;

interface Judged {
  readonly entry: OverrideEntry;
  readonly type: 'applied' | 'stale' | 'unknown';
  readonly report: SkippedOverride;
}

async function judge(entry: OverrideEntry, found: PromptPlace | undefined, tree: SectionTree): Promise<Judged> {
  const { place, override } = entry;
  const current = found?.current ?? null;
  const hash = await hashOverridden(current);
  const edited = entry.hash !== (await hashOverridden(override));
  const report = { ...place, current, hash, override, edited };
  if (found === undefined) return { entry, type: 'unknown', report: { ...report, why: explainUnknown(place, tree) } };
  if (found.locked !== undefined) return { entry, type: 'unknown', report: { ...report, why: found.locked } };
  if (hash !== entry.hash) return { entry, type: 'stale', report: { ...report, why: explainStale(entry, hash) } };
  return { entry, type: 'applied', report: { ...report, why: '' } };
}

function explainUnknown({ section, tool = '' }: OverridePlace, { tools }: SectionTree): string {
  if (section !== undefined) return 'the prompt has no such section';
  return tools.has(tool) ? 'the tool has no such parameter' : 'the prompt has no such tool';
}

function explainStale({ hash }: OverrideEntry, now: string | null): string {
  if (now === null) return 'the prompt has nothing there any more';
  return hash === null ? 'the prompt has something there now' : 'the prompt says something else there now';
}

interface Wanted {
  readonly wanted: readonly OverrideEntry[];
  readonly output: Schema | undefined;
  /** Takes what does not fit its place, and why. */
  readonly unfit: Map<OverrideEntry, string>;
}

function overrideTree(tree: SectionTree, { wanted, output, unfit }: Wanted): SectionTree {
  // A section may be summarised once it has a summary.
  const inOrder = wanted.toSorted((one, other) => Number(isVisibility(one)) - Number(isVisibility(other)));
  const bySection = Map.groupBy(inOrder, ({ place }) => place.section);
  const byTool = Map.groupBy(inOrder, ({ place }) => place.tool);
  const put = <Target>(target: Target, entries: readonly OverrideEntry[] = [], apply: Apply<Target>): Target =>
    entries.reduce((before, entry) => {
      const fitted = apply(before, entry);
      if (fitted.ok) return fitted.value;
      unfit.set(entry, fitted.why);
      return before;
    }, target);
  return mapTree(tree, (node) => {
    const next = put(node, bySection.get(node.path), (before, entry) =>
      overrideSection(before, entry, { tools: tree.tools, output }),
    );
    return { ...next, tools: node.tools.map((tool) => put(tool, byTool.get(tool.tool.name), overrideTool)) };
  });
}

type Apply<Target> = (target: Target, entry: OverrideEntry) => Fitted<Target>;

function isVisibility({ place }: OverrideEntry): boolean {
  return place.part === 'visibility';
}

function toId({ section, tool, part }: OverridePlace): string {
  return JSON.stringify([section, tool, part]);
}

/** The overridable texts of a prompt in their current form. */
export interface PromptPlace {
  readonly place: OverridePlace;
  /** A text is a string; `null`: there is nothing. */
  readonly current: Json;
  /** Why it must stay as it is, if it must. */
  readonly locked?: string;
}

/** All places of a prompt, its sections depth-first and then its tools in order. */
export function listPlaces({ nodes }: SectionTree): readonly PromptPlace[] {
  const sections = [...nodes.values()];
  return [...sections.flatMap(listOfSection), ...sections.flatMap(({ tools }) => tools.flatMap(listOfTool))];
}

function listOfSection({ section, path, template, summary, visibility, taskExamples }: SectionNode): PromptPlace[] {
  const parts: readonly Part[] = [
    { part: 'body', current: template.text },
    { part: 'summary', current: summary?.text ?? null },
    typeof visibility === 'string'
      ? { part: 'visibility', current: visibility }
      : { part: 'visibility', current: null, locked: 'a function of the prompt decides it' },
    { part: 'taskExamples', current: toList(taskExamples.map(({ example }) => toTaskJson(example))) },
  ];
  return parts.map(({ part, ...rest }) => ({
    place: { section: path, part },
    ...rest,
    ...(section.acceptsOverrides ? {} : { locked: 'the section accepts no overrides' }),
  }));
}

function listOfTool({ tool, declaration, parameterDescriptions, examples }: SectionTool): PromptPlace[] {
  const parts: readonly Part[] = [
    { part: 'description', current: declaration.description },
    // No document can have that key.
    ...[...parameterDescriptions]
      .filter(([name]) => name !== '__proto__')
      .map(([name, { description = null }]) => ({
        part: `parameters.${name}`,
        current: description,
      })),
    { part: 'examples', current: toList(examples.map(toExampleJson)) },
  ];
  return parts.map(({ part, ...rest }) => ({
    place: { tool: tool.name, part },
    ...rest,
    ...(tool.acceptsOverrides ? {} : { locked: 'the tool accepts no overrides' }),
  }));
}

type Part = Omit<PromptPlace, 'place'> & { readonly part: string };

function toList(items: readonly Json[]): Json {
  return items.length === 0 ? null : items;
}

function toExampleJson({ description, input, output }: ToolExample): JsonObject {
  // Both were found to be JSON when the tool met the prompt.
  return { description, input: input as Json, output: output as Json };
}

function toTaskJson({ objective, steps, outcome }: TaskExample): JsonObject {
  return {
    objective,
    steps: steps.map(({ tool, description, input, output }) => ({ tool, description, input, output })),
    outcome,
  };
}
