import type { JsonObject } from '../basics/json.ts';

/** What was found in a message: the output, or what is wrong with it, for the model to read. */
export type ParsedOutput<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string };

/** What the last message of a run has to be. */
export interface OutputFormat<Output = unknown> {
  /** Of an object, for providers that can be held to one. */
  readonly jsonSchema: JsonObject;
  /** Reads a message's text. Never throws. */
  parse(text: string): ParsedOutput<Output>;
  /** How many times the model is told what is wrong and asked again. */
  readonly maxCorrections: number;
}
