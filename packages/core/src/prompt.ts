import type { BoundPolicy } from './policy.ts';
import type { SessionReader } from './slice.ts';
import type { Tool } from './tool.ts';

/** What the executor needs of a prompt. Everything else of it belongs to the package `prompt`. */
export interface Prompt {
  /** `<ns>/<key>`. */
  readonly name: string;
  /** @throws HoldfastError when required parameters are not bound. */
  render(view: PromptView): RenderedPrompt;
}

/** What rendering may depend on. */
export interface PromptView {
  /** `undefined` when the prompt is rendered outside of a run. */
  readonly session: SessionReader | undefined;
}

/** What a model is given of a prompt: text and tools; and what guards the tools. */
export interface RenderedPrompt {
  readonly text: string;
  /** Of the enabled sections, in declaration order. */
  readonly tools: readonly Tool[];
  /** In force for a call, by tool name: its sections' from the outside in, then the prompt's. */
  readonly policies: ReadonlyMap<string, readonly BoundPolicy[]>;
  /** Every policy of the prompt, each once: all of them see every success. */
  readonly allPolicies: readonly BoundPolicy[];
}
