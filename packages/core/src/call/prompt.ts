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
  /** `<ns>/<key>`, the key of the prompt's session state. Default: `name`. */
  readonly id?: string;
  /** State of its sections and tools. A run registers these slices before rendering. */
  readonly slices?: readonly Slice[];
  /** All tools that it may ever offer, including those of closed or disabled sections: the host's policies may mention them. */
  readonly toolNames?: ReadonlySet<string>;
  /** @throws HoldfastError if required parameters are not bound. */
  render(view: PromptView): RenderedPrompt<Output>;
  /**
   * Returns the opening for sections requested by a thrown `visibilityExpansionRequired`; `undefined` for other errors. Absent: sections
   * cannot be opened.
   */
  opening?(thrown: unknown): SectionOpening | undefined;
}

/**
 * Opens collapsed sections permanently: dispatches the events and returns the message to the model.
 *
 * @throws HoldfastError `section.unavailable`.
 */
export type SectionOpening = (call: {
  /** The requesting tool. */
  readonly toolName: string;
  readonly session: Pick<ToolSession, 'read' | 'dispatch'>;
  /** The rendered prompt that the model saw when it made the call. */
  readonly shown: RenderedPrompt | undefined;
}) => string;

/** The input of rendering. */
export interface PromptView {
  /** `undefined` if the prompt is rendered outside of a run. */
  readonly session: SessionReader | undefined;
}

/** A prompt as rendered for a model: text, tools and the policies that guard them. */
export interface RenderedPrompt<Output = unknown> {
  readonly text: string;
  /** Of the enabled and open sections, in declaration order. */
  readonly tools: readonly Tool[];
  /** By tool name, overridden declarations for the model. */
  readonly declarations?: ReadonlyMap<string, ToolDeclaration>;
  /** Policies of a call, by tool name: those of its sections from the outside in, then the prompt's. */
  readonly policies: ReadonlyMap<string, readonly BoundPolicy[]>;
  /** Every policy of the prompt once; all of them see every success. */
  readonly allPolicies: readonly BoundPolicy[];
  /** The format of a run's last message. Absent: any text. */
  readonly output?: OutputFormat<Output>;
  readonly feedback?: readonly FeedbackProvider[];
  /** When the model may stop. Absent: at any time. */
  readonly completion?: CompletionRule;
  /** Required with `output`, `feedback` or `completion`: the code that acts on them. */
  readonly guide?: Guide;
}
