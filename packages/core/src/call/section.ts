import type { Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { SessionReader, Slice } from '../state/slice.ts';
import type { Policy } from './policy.ts';
import type { Tool } from './tool.ts';

/** How a section is shown: its whole text with everything under it, or a summary that the model can open. */
export type Visibility = 'full' | 'summary';

/** How a task is done with the prompt's tools, from its objective to its outcome, for the model to see. */
export interface TaskExample {
  /** 1 to 500 characters. */
  readonly objective: string;
  /** In order, at least one. */
  readonly steps: readonly TaskStep[];
  /** What the last message says: text, or what fits the prompt's `output` where it declares one. */
  readonly outcome: Json;
}

/** One call of a task example. It has to fit the schemas of a tool of the prompt. */
export interface TaskStep {
  /** The name of a tool of the prompt, in whatever section. */
  readonly tool: string;
  /** 1 to 200 characters. */
  readonly description: string;
  readonly input: Json;
  readonly output: Json;
}

/** A part of a prompt: instructions together with the tools and policies that they are about. Made by `markdownSection` of `@holdfast/prompt`. */
export interface Section<Input = unknown> {
  readonly title: string;
  readonly key: string;
  readonly template: string;
  readonly params: Schema | undefined;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly summary: string | undefined;
  readonly visibility: Visibility | VisibilityRule;
  // A method, so that it may name the parameters that the section's own schema makes.
  enabled?(params: unknown, session: SessionReader | undefined): boolean;
  readonly children: readonly Section[];
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
  readonly taskExamples: readonly TaskExample[];
  readonly slices: readonly Slice[];
  readonly acceptsOverrides: boolean;
  /** Types only: what the parameters of this section and its children have to be. */
  readonly '~input'?: Input;
}

/** Decides at every render, for a section whose visibility the session does not say. */
export type VisibilityRule<Params = unknown> = (params: Params, session: SessionReader | undefined) => Visibility;
