import {
  type CompletionRule,
  type FeedbackProvider,
  HoldfastError,
  type OutputFormat,
  type Prompt,
  type PromptView,
  ReadOnlySet,
  type Schema,
} from '@holdfast/core';
import type { BindablePrompt, RenderedSections } from './bindable-prompt.ts';
import { bindSections, type ShownSection } from './bound-sections.ts';
import { renderSections } from './render-sections.ts';
import { createSectionTools } from './section-tools.ts';
import type { SectionTree } from './section-tree.ts';
import { reservedToolNames, visibilitySlice } from './visibility.ts';

/** What a prompt is made of. */
export interface PromptParts<Output = unknown> {
  readonly ns: string;
  readonly key: string;
  /** `<ns>/<key>`. */
  readonly id: string;
  readonly name: string;
  readonly tree: SectionTree;
  readonly output: Schema<Output> | undefined;
  /** Of `output`. */
  readonly format: OutputFormat<Output> | undefined;
  readonly feedback: readonly FeedbackProvider[];
  readonly completion: CompletionRule | undefined;
  readonly bound: ReadonlyMap<string, unknown>;
}

const partsByPrompt = new WeakMap<object, PromptParts>();

/** @throws HoldfastError `prompt.foreign` for a prompt that `createPrompt` did not make. */
export function partsOf<Output>(prompt: Prompt<Output>): PromptParts<Output> {
  const parts = partsByPrompt.get(prompt);
  // Kept under the prompt that was made of them.
  if (parts !== undefined) return parts as PromptParts<Output>;
  throw new HoldfastError('prompt.foreign', `\`${prompt.name}\` was not made by \`createPrompt\`.`);
}

/** The same prompt, bound alike, with another tree, whose sections have the same paths and parameters. */
export function withTree<Input, Output>(
  prompt: BindablePrompt<Input, Output>,
  tree: SectionTree,
): BindablePrompt<Input, Output> {
  return fromParts({ ...partsOf(prompt), tree });
}

/** Makes a prompt of its parts. */
export function fromParts<Input, Output>(parts: PromptParts<Output>): BindablePrompt<Input, Output> {
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
  });
  partsByPrompt.set(prompt, parts);
  return prompt;
}

function unknownParam(name: string, known: ReadonlySet<string>): HoldfastError {
  const list = known.size === 0 ? 'none' : [...known].map((key) => `\`${key}\``).join(', ');
  return new HoldfastError(
    'prompt.param.unknown',
    `\`${name}\` is no parameter of the prompt. Its parameters: ${list}.`,
    { data: { name } },
  );
}
