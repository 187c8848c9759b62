import type { Json, Schema } from '@holdfast/core';
import type { BindablePrompt } from './bindable-prompt.ts';
import { type Fitted, overrideSection, overrideTool } from './override-apply.ts';
import type { OverrideEntry, OverridePlace } from './override-document.ts';
import { hashOverridden } from './override-hash.ts';
import { listPlaces, type PromptPlace } from './override-places.ts';
import type { DocumentProblem, ReadOverrides } from './override-read.ts';
import { partsOf, withTree } from './prompt-parts.ts';
import { mapTree, type SectionTree } from './section-tree.ts';

/** An override that is in force. */
export interface AppliedOverride extends OverridePlace {
  /** What the prompt says itself, a text as a string; `null`: nothing. */
  readonly current: Json;
  /** Of `current`: what an override has to be pinned to. */
  readonly hash: string | null;
  /** What stands in its place. */
  readonly override: Json;
  /** Whether somebody wrote it: `false` for what `seedOverrides` wrote and nobody has changed since. */
  readonly edited: boolean;
}

/** An override that was left out. */
export interface SkippedOverride extends AppliedOverride {
  /** A clause for people. */
  readonly why: string;
}

/** What became of each override of a document, in its order. */
export interface OverrideReport {
  readonly applied: readonly AppliedOverride[];
  /** Pinned to something else than what the prompt says now. */
  readonly stale: readonly SkippedOverride[];
  /** Of what the prompt does not have, or what must not be overridden. */
  readonly unknown: readonly SkippedOverride[];
  /** Badly written, or not fit for their place. */
  readonly invalid: readonly SkippedOverride[];
}

/** Puts what was read into `prompt`. @throws HoldfastError `prompt.foreign`. */
export async function resolveOverrides<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  { entries, problems }: ReadOverrides,
): Promise<OverrideReport & { readonly prompt: BindablePrompt<Input, Output> }> {
  const { tree, output } = partsOf(prompt);
  const places = new Map(listPlaces(tree).map((found) => [toId(found.place), found]));
  const judged = await Promise.all(entries.map((entry) => judge(entry, places.get(toId(entry.place)), tree)));
  // What nobody has changed is what the prompt says already.
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
    invalid: [...problems.map(toReport), ...invalid],
  };
}

/** What is wrong with a document, or with a part of it that is no override. */
function toReport({ place, why }: DocumentProblem): SkippedOverride {
  return { ...place, current: null, hash: null, override: null, edited: true, why };
}

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
