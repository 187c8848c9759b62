import type { ToolDeclaration } from '../model/model.ts';
import type { OutputFormat } from '../model/output-format.ts';
import type { SessionReader, Slice } from '../state/slice.ts';
import type { CompletionRule, FeedbackProvider, Guide } from './guidance.ts';
import type { BoundPolicy } from './policy.ts';
import type { Tool } from './tool.ts';
import type { ToolSession } from './tool-context.ts';

/** The executor's view of a prompt. */
export interface Prompt<Output = unknown> {
  /** For people and logs. */
  readonly name: string;
  /** `<ns>/<key>`: what a session keeps about the prompt is kept by it. Default: `name`. */
  readonly id?: string;
  /** State that its sections and tools keep. A run makes their reducers listen before anything is rendered. */
  readonly slices?: readonly Slice[];
  /** Every tool that it may ever offer, also in sections that are closed or disabled: policies of the host may mention them. */
  readonly toolNames?: ReadonlySet<string>;
  /** @throws HoldfastError when required parameters are not bound. */
  render(view: PromptView): RenderedPrompt<Output>;
  /**
   * For what a tool threw: what opens the sections that it asks for by `visibilityExpansionRequired`; `undefined` for anything else.
   * Absent: nothing can be opened.
   */
  opening?(thrown: unknown): SectionOpening | undefined;
}

/**
 * Opens summarised sections for good: dispatches what does so and returns what the model is told.
 *
 * @throws HoldfastError `section.unknown`, `section.hidden`, `section.open`.
 */
export type SectionOpening = (call: {
  /** Of the tool that asked. */
  readonly toolName: string;
  readonly session: Pick<ToolSession, 'read' | 'dispatch'>;
  /** The page that the model saw when it made the call. */
  readonly shown: RenderedPrompt | undefined;
}) => string;

/** The input of rendering. */
export interface PromptView {
  /** `undefined` when the prompt is rendered outside of a run. */
  readonly session: SessionReader | undefined;
}

/** A prompt as rendered for a model: text, tools and the policies that guard them. */
export interface RenderedPrompt<Output = unknown> {
  readonly text: string;
  /** Of the enabled and open sections, in declaration order. */
  readonly tools: readonly Tool[];
  /** By tool name, where the model is told other than the tool itself declares: descriptions that were overridden. */
  readonly declarations?: ReadonlyMap<string, ToolDeclaration>;
  /** In force for a call, by tool name: its sections' from the outside in, then the prompt's. */
  readonly policies: ReadonlyMap<string, readonly BoundPolicy[]>;
  /** Every policy of the prompt, each once: all of them see every success. */
  readonly allPolicies: readonly BoundPolicy[];
  /** The format of a run's last message. Absent: any text. */
  readonly output?: OutputFormat<Output>;
  readonly feedback?: readonly FeedbackProvider[];
  /** When the model may stop. Absent: at any time. */
  readonly completion?: CompletionRule;
  /** Required with `output`, `feedback` or `completion`: the code that acts on them. */
  readonly guide?: Guide;
}
