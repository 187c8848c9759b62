import { type FeedbackProvider, HoldfastError, type Prompt, type Schema, type Slice } from '@holdfast/core';
import type { CompletionRule, OutputFormat, PromptView, RenderedPrompt, ToolSession } from '@holdfast/core/types';
import type { ToolParamDescription } from '../section/tools.ts';
import type { SectionTree } from '../section/tree.ts';

/** A prompt with bindable parameters. It renders once all required ones are bound. */
export interface BindablePrompt<Input = unknown, Output = unknown> extends Prompt<Output> {
  readonly ns: string;
  readonly key: string;
  readonly id: string;
  /** The slices of its sections, and `visibilitySlice` if a section has a summary. */
  readonly slices: readonly Slice[];
  readonly toolNames: ReadonlySet<string>;
  /**
   * Returns a prompt with `values` bound in addition, replacing earlier values. They are read at the first render and must not
   * change after it; `undefined` counts as unbound.
   *
   * @throws HoldfastError `prompt.invalid`.
   */
  bind(values: Partial<Input>): BindablePrompt<Input, Output>;
  /**
   * Returns the same object while the visible sections stay the same.
   *
   * @throws HoldfastError `prompt.invalid`, `section.rule.failed` if an `enabled` or `visibility` throws.
   */
  render(view?: PromptView): RenderedSections<Output>;
  /**
   * Opens summarized sections, by path, permanently. A path may be below another one in `keys`.
   *
   * @throws HoldfastError `section.unavailable` if all are open already, and those of
   * `render`. Nothing changes then.
   */
  expand(keys: readonly string[], session: Pick<ToolSession, 'read' | 'dispatch'>): string;
}

/** A rendered prompt with the parameter descriptions of its tools. */
export interface RenderedSections<Output = unknown> extends RenderedPrompt<Output> {
  /** By tool and parameter, as sent to the model. */
  readonly toolParamDescriptions: ReadonlyMap<string, ReadonlyMap<string, ToolParamDescription>>;
}

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

/** @throws HoldfastError `prompt.invalid` if `createPrompt` did not create the prompt. */
export function partsOf<Output>(prompt: Prompt<Output>): PromptParts<Output> {
  const parts = partsByPrompt.get(prompt);
  // Stored for this very prompt, so `Output` is the same.
  if (parts !== undefined) return parts as PromptParts<Output>;
  throw new HoldfastError('prompt.invalid', `\`${prompt.name}\` was not created by \`createPrompt\`.`, {
    data: { reason: 'foreign' },
  });
}

export function keepParts(prompt: BindablePrompt, parts: PromptParts): void {
  partsByPrompt.set(prompt, parts);
}
