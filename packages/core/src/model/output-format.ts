import type { JsonObject } from '../basics/json.ts';

/** The output of a message, or its problem, worded for the model. */
export type ParsedOutput<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly message: string };

/** The required format of a run's last message. */
export interface OutputFormat<Output = unknown> {
  /** Schema of an object, for providers that support structured output. */
  readonly jsonSchema: JsonObject;
  /** Reads a message's text. Never throws. */
  parse(text: string): ParsedOutput<Output>;
  /** Maximum number of times that the model is asked to correct its message. */
  readonly maxCorrections: number;
}
