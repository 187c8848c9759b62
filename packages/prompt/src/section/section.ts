import {
  HoldfastError,
  type Policy,
  type Schema,
  type Section,
  type SessionReader,
  type Slice,
  type StandardSchema,
  type Tool,
} from '@holdfast/core';
import { checkOptions, type OptionRules, unicodePattern } from '@holdfast/core/internal';
import type { JsonSchemaDefinition, TaskExample, Visibility, VisibilityRule } from '@holdfast/core/types';

// Contracts, so that a plugin may contribute sections; users of this package find them here.
export type { Section } from '@holdfast/core';
export type { TaskExample, TaskStep, Visibility, VisibilityRule } from '@holdfast/core/types';

export interface SectionDefinition<
  Params extends Schema,
  Children extends readonly Section[],
  Template extends string = string,
  Summary extends string = string,
> {
  /** One line. */
  readonly title: string;
  /** Matches `^[a-z0-9][a-z0-9_-]{0,63}$`, one of its kind among its siblings. Default: made of the title. */
  readonly key?: string;
  /** Markdown with placeholders `$name` and `${name}` for the section's own parameters; `$$` is a dollar sign. */
  readonly template: Template & CheckedTemplate<Template, KeysOf<Params>>;
  /** An object schema. The section reads those keys of what is bound to the prompt. */
  readonly params?: Params;
  /** Values of unbound parameters, applied before the defaults of the schema. */
  readonly defaults?: NoInfer<Partial<InputOf<Params>>>;
  /** A template like `template`, shown in place of the section and everything under it while it is summarised. */
  readonly summary?: Summary & CheckedTemplate<Summary, KeysOf<Params>>;
  /**
   * The visibility until the session changes it. Default `full`. `summary`, and a function, need a
   * `summary`; the function runs at every render.
   */
  readonly visibility?: Visibility | VisibilityRule<NoInfer<OutputOf<Params>>>;
  /**
   * Returns whether to include the section and its subsections; runs at every render. Default: always. `session` is undefined
   * when the prompt is rendered without one.
   */
  enabled?(params: NoInfer<OutputOf<Params>>, session: SessionReader | undefined): boolean;
  readonly children?: Children;
  readonly tools?: readonly Tool[];
  /** In force for the tools of this section and of everything under it. */
  readonly policies?: readonly Policy[];
  /** Rendered under the section, each while all its tools are offered. */
  readonly taskExamples?: readonly TaskExample[];
  /** State that the section's tools keep. */
  readonly slices?: readonly Slice[];
  /** Allows overrides of the section's own texts; its tools and subsections decide for themselves. Default true. */
  readonly acceptsOverrides?: boolean;
}

/** The input type of a schema. */
export type InputOf<S> =
  S extends StandardSchema<infer Input, infer _Output>
    ? Input
    : S extends JsonSchemaDefinition<infer Value>
      ? Value
      : unknown;

/** The output type of a schema. */
export type OutputOf<S> = S extends Schema<infer Output, infer _Input> ? Output : unknown;

/** The parameter names of a section; `string` if its schema does not reveal them. */
type KeysOf<Params> = Params extends NoParams
  ? never
  : unknown extends InputOf<Params>
    ? string
    : keyof InputOf<Params>;

/** The combined input of sections: a key shared by two must satisfy both. */
export type InputOfAll<Sections extends readonly unknown[]> = {
  [Index in keyof Sections]: (input: Sections[Index] extends Section<infer Input> ? Input : unknown) => void;
}[number] extends (input: infer Input) => void
  ? Input
  : unknown;

/**
 * Declares a section. `createPrompt` reports other mistakes, with the section's path.
 *
 * @throws HoldfastError `prompt.invalid` if `title` or `template` is not a string.
 */
export function markdownSection<
  Params extends Schema = NoParams,
  const Children extends readonly Section[] = readonly [],
  Template extends string = string,
  Summary extends string = string,
>(definition: SectionDefinition<Params, Children, Template, Summary>): Section<InputOf<Params> & InputOfAll<Children>> {
  checkOptions('markdownSection', definition, rules, { strays: 'misspelled' });
  const { title, template, params, enabled, visibility = 'full', children = [] } = definition;
  for (const [field, text] of Object.entries({ title, template })) {
    const given: unknown = text;
    if (typeof given === 'string') continue;
    throw new HoldfastError('prompt.invalid', `\`${field}\` of the section \`${String(title)}\` must be a text.`);
  }
  const { key = toKey(title) } = definition;
  return Object.freeze({
    title: title.trim(),
    key,
    template,
    params,
    defaults: Object.freeze({ ...definition.defaults }),
    summary: definition.summary,
    // Both receive only the output of the section's own schema.
    visibility: visibility as Section['visibility'],
    ...(enabled === undefined ? {} : { enabled: enabled as NonNullable<Section['enabled']> }),
    children: Object.freeze([...children]),
    tools: Object.freeze([...(definition.tools ?? [])]),
    policies: Object.freeze([...(definition.policies ?? [])]),
    taskExamples: Object.freeze([...(definition.taskExamples ?? [])]),
    slices: Object.freeze([...(definition.slices ?? [])]),
    acceptsOverrides: definition.acceptsOverrides ?? true,
  });
}

const rules: OptionRules = {
  title: 'any',
  key: 'any',
  template: 'any',
  params: 'any',
  defaults: 'any',
  summary: 'any',
  visibility: 'any',
  enabled: 'function',
  children: 'list',
  tools: 'list',
  policies: 'list',
  taskExamples: 'list',
  slices: 'list',
  acceptsOverrides: 'boolean',
};

const marks = unicodePattern(String.raw`\p{Mark}`, 'gu');

function toKey(title: string): string {
  // Most titles need no table of Unicode, which takes time to load.
  const plain = /^[ -~]*$/.test(title) ? title : title.normalize('NFKD').replace(marks(), '');
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
}

/**
 * Types only: what a template has to be beside a text. Nothing, unless the compiler can see a placeholder in it that is no
 * parameter. What it cannot see is told when a prompt is made of the section.
 */
export type CheckedTemplate<Text extends string, Keys> = [Exclude<PlaceholdersOf<Text>, Keys>] extends [never]
  ? unknown
  : { readonly '~no parameter of this section': Exclude<PlaceholdersOf<Text>, Keys> };

/** The schema of a section that was given none. */
export type NoParams = Schema & { readonly '~none': true };

/** The names of the placeholders that the compiler can see in a text. */
export type PlaceholdersOf<Text extends string, Found extends string = never> = string extends Text
  ? Found
  : Text extends `${string}$${infer Rest}`
    ? Rest extends `$${infer After}`
      ? PlaceholdersOf<After, Found>
      : Rest extends `{${infer Name}}${infer After}`
        ? PlaceholdersOf<After, Found | Trimmed<Name>>
        : PlaceholdersOf<Rest, Found | NameAt<Rest>>
    : Found;

/** The name at the start of a text, `never` where there is none or its end cannot be seen. */
type NameAt<Text extends string> = Text extends `${Digit}${string}` ? never : Exclude<Leading<Text>, ''>;

type Leading<Text extends string, Name extends string = ''> = string extends Text
  ? never
  : Text extends `${infer First}${infer Rest}`
    ? string extends First
      ? never
      : Lowercase<First> extends Letter | Digit | '_'
        ? Leading<Rest, `${Name}${First}`>
        : Name
    : Name;

type Trimmed<Text extends string> = Text extends ` ${infer Rest}` | `${infer Rest} ` ? Trimmed<Rest> : Text;

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
type Letter = LetterOf<'abcdefghijklmnopqrstuvwxyz'>;
type LetterOf<Text extends string> = Text extends `${infer First}${infer Rest}` ? First | LetterOf<Rest> : never;
