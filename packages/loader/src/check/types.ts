import type { Effects, Json, JsonObject, Repeat } from '@holdfast/core';
import type { ToolExample, ToolRetry } from '@holdfast/core/types';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { LiteralPath } from '../parse/literal.ts';
import type { Finding } from '../text/diagnostic.ts';

/** The metadata of a tool file with all defaults filled in. */
export interface ToolMetadata {
  /**
   * `metadata`: the file exports `METADATA`. `definition`: its default export is made by `defineTool`. `command`: a
   * `.tool.json` names a program. `python`: a Python file has `METADATA`.
   */
  readonly form: MetadataForm;
  readonly name: string;
  /** The export with the tool's function; in a definition `default`, whose `execute` is called; empty for a command. */
  readonly function: string;
  /** Only for a command. */
  readonly command: ToolCommand | undefined;
  /** Only for Python: how the function receives the arguments. */
  readonly passing: ArgumentPassing | undefined;
  readonly description: string;
  /** `undefined`: the tool has no arguments. */
  readonly parameters: JsonObject | undefined;
  /** The output schema. */
  readonly returns: JsonObject | undefined;
  readonly dangerous: boolean;
  /** It declares neither `dangerous` nor `effects`, and so counts as dangerous. */
  readonly undeclared: boolean;
  readonly effects: Effects;
  readonly repeat: Repeat;
  readonly timeoutMs: number | undefined;
  readonly retry: Required<ToolRetry> | undefined;
  readonly examples: readonly ToolExample<JsonObject, Json>[];
  /** Names of the resources that a call uses; `$input.path` stands for the argument `path`. */
  readonly resources: readonly string[] | undefined;
  /** The weakest isolation in which the tool may run. */
  readonly isolation: Isolation | undefined;
  /** The tool's semantic version. */
  readonly version: string | undefined;
  /** Maximum size of a result as JSON. */
  readonly maxResultBytes: number | undefined;
  /** Environment variables that the tool needs; `NAME?` is optional. */
  readonly environment: readonly string[] | undefined;
}

export type MetadataForm = 'metadata' | 'definition' | 'command' | 'python';

/** Arguments by name, as one dictionary, or none. */
export type ArgumentPassing = 'named' | 'whole' | 'none';

/** How a tool's code is isolated from the host: not at all, by a thread, by a process, by a sandbox. */
export type Isolation = 'in-process' | 'worker' | 'subprocess' | 'sandbox';

/** The program of a `.tool.json`. */
export interface ToolCommand {
  /**
   * The program and its arguments. A word that starts with `./` is a file beside the tool file; any other program is found on the `PATH`.
   */
  readonly words: readonly string[];
  /** The files of `words` and additional files, each starting with `./`, unique and in code unit order. */
  readonly files: readonly string[];
}

/** The unchecked metadata of a tool file. */
export interface MetadataLiteral {
  readonly form: MetadataForm;
  readonly value: JsonObject;
  /** Finds the function of that name; a definition has only one. Absent if the form has no functions. */
  findFunction?(name: string): ExportedFunction;
  /** Keys of this form only. */
  readonly own?: OwnMetadata;
}

/** The METADATA keys of one language. */
export interface OwnMetadata {
  /** Keys in addition to the common ones. */
  readonly keys?: readonly string[];
  /** Default: those of JavaScript. */
  readonly functionWords?: FunctionWords;
  /** Checks these keys, and how the function receives its parameters. */
  check?(
    value: JsonObject,
    found: { readonly exported: ExportedFunction | undefined; readonly parameters: JsonObject | undefined },
    report: Report,
  ): Partial<Pick<ToolMetadata, 'command' | 'passing'>>;
}

/** Wording of diagnostics about functions. */
export interface FunctionWords {
  write(name: string): string;
  missing(name: string): string;
  others(names: string, name: string): string;
}

/** A finding about a member of the metadata. */
export interface MetadataFinding extends Finding {
  readonly path: LiteralPath;
}

/** Receives the findings of a check. */
export type Report = (finding: MetadataFinding) => void;
