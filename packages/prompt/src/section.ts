import type { JsonSchemaDefinition, Policy, Schema, SessionReader, StandardSchema, Tool } from '@holdfast/core';

/** A part of a prompt: instructions together with the tools and policies that they are about. Made by `markdownSection`. */
export interface Section<Input = unknown> {
  readonly title: string;
  readonly key: string;
  readonly template: string;
  readonly params: Schema | undefined;
  // A method, so that it may name the parameters that the section's own schema makes.
  enabled?(params: unknown, session: SessionReader | undefined): boolean;
  readonly children: readonly Section[];
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
  /** Types only: what the parameters of this section and its children have to be. */
  readonly '~input'?: Input;
}

export interface SectionDefinition<Params extends Schema, Children extends readonly Section[]> {
  /** One line. */
  readonly title: string;
  /** Matches `^[a-z0-9][a-z0-9_-]{0,63}$`, one of its kind among its siblings. Default: made of the title. */
  readonly key?: string;
  /** Markdown with placeholders `$name` and `${name}` for the section's own parameters; `$$` is a dollar sign. */
  readonly template: string;
  /** An object schema. The section reads those keys of what is bound to the prompt. */
  readonly params?: Params;
  /**
   * Whether the section is there, with everything under it; asked at every render. Default: it is. `session` is undefined
   * when the prompt is rendered without one.
   */
  enabled?(params: NoInfer<OutputOf<Params>>, session: SessionReader | undefined): boolean;
  readonly children?: Children;
  readonly tools?: readonly Tool[];
  /** In force for the tools of this section and of everything under it. */
  readonly policies?: readonly Policy[];
}

/** What a schema takes. */
export type InputOf<S> =
  S extends StandardSchema<infer Input, infer _Output>
    ? Input
    : S extends JsonSchemaDefinition<infer Value>
      ? Value
      : unknown;

/** What a schema gives. */
export type OutputOf<S> = S extends Schema<infer Output, infer _Input> ? Output : unknown;

/** What a list of sections has to be given together: a key of two sections must satisfy both. */
export type InputOfAll<Sections extends readonly unknown[]> = {
  [Index in keyof Sections]: (input: Sections[Index] extends Section<infer Input> ? Input : unknown) => void;
}[number] extends (input: infer Input) => void
  ? Input
  : unknown;

/** Declares a section. What is wrong with it is told when a prompt is made of it, with its path. */
export function markdownSection<
  Params extends Schema = Schema,
  const Children extends readonly Section[] = readonly [],
>(definition: SectionDefinition<Params, Children>): Section<InputOf<Params> & InputOfAll<Children>> {
  const { title, key = toKey(title), template, params, enabled, children = [], tools = [], policies = [] } = definition;
  return Object.freeze({
    title: title.trim(),
    key,
    template,
    params,
    // Given nothing but what the section's own schema has made.
    ...(enabled === undefined ? {} : { enabled: enabled as NonNullable<Section['enabled']> }),
    children: Object.freeze([...children]),
    tools: Object.freeze([...tools]),
    policies: Object.freeze([...policies]),
  });
}

function toKey(title: string): string {
  return title
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
}
