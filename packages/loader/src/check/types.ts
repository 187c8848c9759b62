import type { Effects, Json, JsonObject, Repeat, ToolExample, ToolRetry } from '@holdfast/core';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { LiteralPath } from '../parse/literal.ts';
import type { Finding } from '../text/diagnostic.ts';

/** What a tool file says of its tool, with every default filled in. */
export interface ToolMetadata {
  /**
   * `metadata`: the file exports `METADATA`. `definition`: its default export is made by `defineTool`. `command`: a `.tool.json`
   * names a program. `python`: a Python file has `METADATA`.
   */
  readonly form: MetadataForm;
  readonly name: string;
  /** The export that does the work; in a definition, `default`, whose `execute` does; empty in a command. */
  readonly function: string;
  /** Of a command only. */
  readonly command: ToolCommand | undefined;
  /** Of Python only: how the function takes the arguments. */
  readonly passing: ArgumentPassing | undefined;
  readonly description: string;
  /** `undefined`: the tool takes no arguments. */
  readonly parameters: JsonObject | undefined;
  /** Of the output. */
  readonly returns: JsonObject | undefined;
  readonly dangerous: boolean;
  /** It says neither `dangerous` nor `effects`, and so counts as dangerous. */
  readonly undeclared: boolean;
  readonly effects: Effects;
  readonly repeat: Repeat;
  readonly timeoutMs: number | undefined;
  readonly retry: Required<ToolRetry> | undefined;
  readonly examples: readonly ToolExample<JsonObject, Json>[];
  /** Names of what a call works on; `$input.path` stands for the argument `path`. */
  readonly resources: readonly string[] | undefined;
  /** The weakest isolation that the tool may run in. */
  readonly isolation: Isolation | undefined;
  /** Of the tool, as semantic versioning has it. */
  readonly version: string | undefined;
  /** Most that a result may take as JSON. */
  readonly maxResultBytes: number | undefined;
  /** Environment variables that the tool asks for; `NAME?` is an optional one. */
  readonly environment: readonly string[] | undefined;
}

export type MetadataForm = 'metadata' | 'definition' | 'command' | 'python';

/** Each argument by its name, all of them as one dictionary, or nothing. */
export type ArgumentPassing = 'named' | 'whole' | 'none';

/** How far a tool's code is kept from the host: not at all, by a thread, by a process, by the machine's sandbox. */
export type Isolation = 'in-process' | 'worker' | 'subprocess' | 'sandbox';

/** A program, as a `.tool.json` names it. */
export interface ToolCommand {
  /** The program and its arguments. What begins with `./` is a file beside the tool file; a program without it is found on the `PATH`. */
  readonly words: readonly string[];
  /** The files of `words` and those that are needed beside them, each beginning with `./`, once and in code unit order. */
  readonly files: readonly string[];
}

/** What a tool file says, before it is checked. */
export interface MetadataLiteral {
  readonly form: MetadataForm;
  readonly value: JsonObject;
  /** Finds the function of that name; in a definition the only one there is. Absent: the form names none. */
  findFunction?(name: string): ExportedFunction;
  /** What only this form has. */
  readonly own?: OwnMetadata;
}

/** What METADATA has in one language only. */
export interface OwnMetadata {
  /** Keys beside those of every file. */
  readonly keys?: readonly string[];
  /** Default: those of JavaScript. */
  readonly functionWords?: FunctionWords;
  /** Checks these keys, and how the function takes its parameters. */
  check?(
    value: JsonObject,
    found: { readonly exported: ExportedFunction | undefined; readonly parameters: JsonObject | undefined },
    report: Report,
  ): Partial<Pick<ToolMetadata, 'command' | 'passing'>>;
}

/** How diagnostics speak of functions. */
export interface FunctionWords {
  write(name: string): string;
  missing(name: string): string;
  others(names: string, name: string): string;
}

/** A finding about a member of the metadata. */
export interface MetadataFinding extends Finding {
  readonly path: LiteralPath;
}

/** Takes what a check finds. */
export type Report = (finding: MetadataFinding) => void;
