import type { Schema } from '@holdfast/core';

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
