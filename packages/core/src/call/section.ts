import type { Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { SessionReader, Slice } from '../state/slice.ts';
import type { Policy } from './policy.ts';
import type { Tool } from './tool.ts';

/** A section's view: the whole text with its children, or a summary that the model can open. */
export type Visibility = 'full' | 'summary';

/** Shows the model how to do a task with the prompt's tools, from its objective to its outcome. */
export interface TaskExample {
  /** 1 to 500 characters. */
  readonly objective: string;
  /** In order, at least one. */
  readonly steps: readonly TaskStep[];
  /** The last message: text, or a value of the prompt's `output` if declared. */
  readonly outcome: Json;
}

/** One call of a task example. Must match the schemas of a tool of the prompt. */
export interface TaskStep {
  /** The name of a tool in any section of the prompt. */
  readonly tool: string;
  /** 1 to 200 characters. */
  readonly description: string;
  readonly input: Json;
  readonly output: Json;
}

/** A part of a prompt: instructions with their tools and policies. Created by `markdownSection` of `@holdfast/prompt`. */
export interface Section<Input = unknown> {
  readonly title: string;
  readonly key: string;
  readonly template: string;
  readonly params: Schema | undefined;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly summary: string | undefined;
  readonly visibility: Visibility | VisibilityRule;
  // A method, so that it may use the parameter types of the section's own schema.
  enabled?(params: unknown, session: SessionReader | undefined): boolean;
  readonly children: readonly Section[];
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
  readonly taskExamples: readonly TaskExample[];
  readonly slices: readonly Slice[];
  readonly acceptsOverrides: boolean;
  /** For types only: the parameters of this section and its children. */
  readonly '~input'?: Input;
}

/** Determines the visibility at every render, unless the session does. */
export type VisibilityRule<Params = unknown> = (params: Params, session: SessionReader | undefined) => Visibility;
