import {
  type CompletionRule,
  type FeedbackProvider,
  HoldfastError,
  type OutputFormat,
  type Prompt,
  type PromptView,
  type RenderedPrompt,
  type Schema,
  type Slice,
  type ToolSession,
} from '@holdfast/core';
import type { ToolParamDescription } from '../section/tools.ts';
import type { SectionTree } from '../section/tree.ts';

/** A prompt whose parameters can be bound. It can be rendered at any time that nothing required is missing. */
export interface BindablePrompt<Input = unknown, Output = unknown> extends Prompt<Output> {
  readonly ns: string;
  readonly key: string;
  readonly id: string;
  /** Those of its sections, and where a section has a summary the one that says which are open. */
  readonly slices: readonly Slice[];
  readonly toolNames: ReadonlySet<string>;
  /**
   * A prompt with `values` added to what is bound here, replacing values of the same keys. They are read at the first render
   * and must not change after that; `undefined` counts as not bound.
   *
   * @throws HoldfastError `prompt.param.unknown`.
   */
  bind(values: Partial<Input>): BindablePrompt<Input, Output>;
  /**
   * The same object again as long as the same sections are there and open.
   *
   * @throws HoldfastError `prompt.param.missing`, `prompt.param.invalid`, `prompt.param.text`, `section.enabled.invalid`,
   * `section.visibility.invalid`, `section.rule.failed` where an `enabled` or a `visibility` throws.
   */
  render(view?: PromptView): RenderedSections<Output>;
  /**
   * Opens sections that are shown as summaries, by path, for good. A section under one that is opened with it may be among them.
   *
   * @throws HoldfastError `section.unknown`, `section.hidden`, `section.open` when all of them are open, and as `render`
   * for what would be shown then. Nothing is changed then.
   */
  expand(keys: readonly string[], session: Pick<ToolSession, 'read' | 'dispatch'>): string;
}

/** A rendered prompt with what its tools' parameters say. */
export interface RenderedSections<Output = unknown> extends RenderedPrompt<Output> {
  /** By tool and parameter: what the model gets. */
  readonly toolParamDescriptions: ReadonlyMap<string, ReadonlyMap<string, ToolParamDescription>>;
}

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

export function keepParts(prompt: BindablePrompt, parts: PromptParts): void {
  partsByPrompt.set(prompt, parts);
}
