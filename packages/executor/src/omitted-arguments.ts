import { isPlainObject, type Json, type OmittedArguments, type Problem } from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import { sha256 } from './sha256.ts';

/** Characters from which a log does not keep arguments that were refused. */
export const maxRefusedChars = 65_536;

interface Omitted {
  readonly rawArguments: null;
  readonly omitted: OmittedArguments;
}

/** What a record has in the place of arguments that were refused; nothing where they are short. */
export function omitArguments(raw: Json, { session: { redactor } }: Pick<CallScope, 'session'>): Omitted | undefined {
  // A value has come under the limits of JSON from a model: it is quickly measured.
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  if (text.length <= maxRefusedChars) return undefined;
  // What was a secret nobody may try: only a redactor has a key.
  const digest = redactor === undefined ? sha256(text) : redactor.digest?.(text);
  return {
    rawArguments: null,
    omitted: digest === undefined ? { length: text.length } : { length: text.length, digest },
  };
}

/** Why a call cannot be taken up again whose record has no arguments any more. */
export function findOmitted(omitted: unknown): Problem | undefined {
  if (!isPlainObject(omitted)) return undefined;
  const message = `The arguments cannot be taken: they were refused, and of their ${String(omitted['length'])} characters the log keeps only the digest.`;
  return { code: 'arguments.too_large', message };
}
