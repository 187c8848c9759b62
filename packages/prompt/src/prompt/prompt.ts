import { type CompletionChecker, type FeedbackProvider, HoldfastError, type Policy, type Schema } from '@holdfast/core';
import { checkOptions, isOneLine, type OptionRules, ReadOnlySet } from '@holdfast/core/internal';
import type { PromptView } from '@holdfast/core/types';
import { createSectionTools } from '../disclosure/section-tools.ts';
import { toOutputFormat } from '../output/format.ts';
import { bindSections, type ShownSection } from '../render/bound.ts';
import { renderSections } from '../render/render.ts';
import { type BindablePrompt, keepParts, type PromptParts, partsOf, type RenderedSections } from '../render/types.ts';
import type { InputOfAll, Section } from '../section/section.ts';
import { createSectionTree, type SectionTree } from '../section/tree.ts';
import { reservedToolNames, visibilitySlice } from '../section/visibility.ts';
import { toCompletionRule } from './completion.ts';
import { takeFeedback } from './feedback.ts';

export interface PromptDefinition<Sections extends readonly Section[], Output = unknown> {
  /** Segments joined by `/`, each matching `^[a-z0-9][a-z0-9._-]{0,63}$`; trimmed and lower-cased. Default `prompts`. */
  readonly ns?: string;
  /** One such segment. */
  readonly key: string;
  /** For people and logs: one line of at most 200 characters. Default `<ns>/<key>`. */
  readonly name?: string;
  readonly sections: Sections;
  /** In force for every tool of the prompt, those that open and read sections included. */
  readonly policies?: readonly Policy[];
  /** The schema of a run's final message: an object, or a list of objects. Default: any text. */
  readonly output?: Schema<Output>;
  /** How many times the model is told what is wrong with its output and asked again. Integer from 0 on, default 1. */
  readonly maxCorrections?: number;
  /** Feedback for the model during a run. */
  readonly feedback?: readonly FeedbackProvider[];
  /** Judges whether the work is done when the model stops. */
  readonly completion?: CompletionChecker;
  /** How many times in a run `completion` sends the model back to work. Integer from 0 on, default 3. */
  readonly maxReturns?: number;
}

const segmentPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * Creates a prompt from sections. Checks everything that does not depend on parameters.
 *
 * @throws HoldfastError `prompt.invalid`,
 * `options.invalid`, and the errors of
 * `createSectionTree`.
 */
export function createPrompt<const Sections extends readonly Section[], Output = unknown>(
  definition: PromptDefinition<Sections, Output>,
): BindablePrompt<InputOfAll<Sections>, Output> {
  checkOptions('createPrompt', definition, rules, { strays: 'misspelled' });
  const { sections, policies = [], output, maxCorrections, feedback = [], completion, maxReturns } = definition;
  for (const [option, list] of Object.entries<unknown>({ sections, policies, feedback })) {
    if (Array.isArray(list)) continue;
    throw new HoldfastError('options.invalid', `\`${option}\` of a prompt must be a list.`, { data: { option } });
  }
  if (maxCorrections !== undefined && output === undefined) throw hasNoEffect('maxCorrections', 'output');
  if (maxReturns !== undefined && completion === undefined) throw hasNoEffect('maxReturns', 'completion');
  // Hosts without types may pass anything.
  const ns = String(definition.ns ?? 'prompts')
    .trim()
    .toLowerCase();
  const key = String(definition.key ?? '')
    .trim()
    .toLowerCase();
  if (!ns.split('/').every((segment) => segmentPattern.test(segment))) {
    throw new HoldfastError(
      'prompt.invalid',
      `The \`ns\` \`${ns}\` must be segments joined by \`/\`, each matching ${segmentPattern.source}.`,
      { data: { reason: 'ns.invalid' } },
    );
  }
  if (!segmentPattern.test(key)) {
    throw new HoldfastError('prompt.invalid', `The \`key\` \`${key}\` must match ${segmentPattern.source}.`, {
      data: { reason: 'key.invalid' },
    });
  }
  const id = `${ns}/${key}`;
  const name = definition.name === undefined ? id : checkName(definition.name);
  const format =
    output === undefined ? undefined : toOutputFormat(output, maxCorrections === undefined ? {} : { maxCorrections });
  return fromParts({
    ns,
    key,
    id,
    name,
    tree: createSectionTree(sections, { policies, output }),
    output,
    format,
    feedback: takeFeedback(feedback),
    completion: completion === undefined ? undefined : toCompletionRule(completion, maxReturns),
    bound: new Map(),
  });
}

const rules: OptionRules = {
  ns: 'any',
  key: 'any',
  name: 'text',
  sections: 'any',
  policies: 'any',
  output: 'any',
  maxCorrections: 'any',
  feedback: 'any',
  completion: 'any',
  maxReturns: 'any',
};

function hasNoEffect(option: string, needed: string): HoldfastError {
  const message = `\`${option}\` does nothing without \`${needed}\`: give both or none.`;
  return new HoldfastError('options.invalid', message, { data: { option } });
}

function checkName(given: string): string {
  const name = given.trim();
  if (name !== '' && name.length <= maxNameLength && isOneLine(name)) return name;
  throw new HoldfastError(
    'prompt.invalid',
    `The \`name\` \`${name.slice(0, maxNameLength)}\` must be one line of 1 to ${maxNameLength} characters, none of them a control character.`,
    { data: { reason: 'name.invalid' } },
  );
}

const maxNameLength = 200;

/** A copy of `prompt` with another tree, whose sections must have the same paths and parameters. */
export function withTree<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  tree: SectionTree,
): BindablePrompt<Input, Output> {
  return fromParts({ ...partsOf(prompt), tree });
}

function fromParts<Input, Output>(parts: PromptParts<Output>): BindablePrompt<Input, Output> {
  const { ns, key, id, name, tree, bound } = parts;
  const sections = bindSections({ promptId: id, tree, bound });
  const sectionTools = createSectionTools({ promptId: id, tree, sections });
  let last: { readonly shown: readonly ShownSection[]; readonly rendered: RenderedSections<Output> } | undefined;
  const prompt: BindablePrompt<Input, Output> = Object.freeze({
    name,
    id,
    ns,
    key,
    slices: Object.freeze([...tree.slices, ...(tree.hasSummaries ? [visibilitySlice] : [])]),
    toolNames: new ReadOnlySet(tree.hasSummaries ? [...tree.tools.keys(), ...reservedToolNames] : tree.tools.keys()),
    bind(values: Partial<Input>) {
      const given: unknown = values;
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        throw new HoldfastError('options.invalid', '`bind` takes one object of parameters.');
      }
      for (const param of Object.keys(values)) {
        if (!tree.paramKeys.has(param)) throw unknownParam(param, tree.paramKeys);
      }
      return fromParts<Input, Output>({ ...parts, bound: new Map([...bound, ...Object.entries(values)]) });
    },
    render(view?: PromptView) {
      const shown = sections.collect(view?.session, { before: last?.shown });
      if (last === undefined || last.shown !== shown) {
        last = { shown, rendered: renderSections(shown, { parts, sections, own: sectionTools.neededBy(shown) }) };
      }
      return last.rendered;
    },
    expand: sectionTools.expand,
    opening: (thrown: unknown) => sectionTools.opening(thrown, (session) => prompt.render({ session })),
  });
  keepParts(prompt, parts);
  return prompt;
}

function unknownParam(name: string, known: ReadonlySet<string>): HoldfastError {
  const list = known.size === 0 ? 'none' : [...known].map((key) => `\`${key}\``).join(', ');
  return new HoldfastError('prompt.invalid', `Unknown prompt parameter \`${name}\`. Known parameters: ${list}.`, {
    data: { reason: 'param.unknown', name },
  });
}
