import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { LiteralPath } from '../parse/literal.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import { checkMetadata } from './metadata.ts';
import type { MetadataLiteral, ToolMetadata } from './types.ts';

export type MetadataReading =
  | {
      readonly type: 'read';
      readonly metadata: ToolMetadata;
      /** Offset of `name` in the source, for what is found by comparing files. */
      readonly nameOffset: number;
      /** Warnings. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] };

/** What a tool file says of its tool, as it was read. */
export interface FoundLiteral extends Omit<MetadataLiteral, 'value'> {
  readonly value: Json;
  /** What people call it, with backticks. */
  readonly subject: string;
  /** Where it stands in the source. */
  readonly offset: number;
  /** Offset in the source of the member at `path`, or of the nearest member around it. */
  offsetOf(path: LiteralPath): number;
}

/** Checks what a file says of its tool. `strict` makes errors of warnings. */
export function checkLiteral(
  { form, value, findFunction, own, subject, offset, offsetOf }: FoundLiteral,
  { file, source, strict }: { readonly file: string; readonly source: string; readonly strict: boolean },
): MetadataReading {
  if (!isPlainObject(value)) {
    const message = `${subject} is not an object.`;
    const hint = 'Write `{ name, function, description, dangerous, parameters }`.';
    const finding = { code: 'tool.metadata.not_literal', message, hint };
    return { type: 'refused', diagnostics: [toDiagnostic(finding, { file, source, offset })] };
  }
  const diagnostics: Diagnostic[] = [];
  let isGood = true;
  let more = 0;
  // Read from a literal: nothing but JSON.
  const metadata = checkMetadata(
    {
      form,
      value: value as JsonObject,
      ...(findFunction === undefined ? {} : { findFunction }),
      ...(own === undefined ? {} : { own }),
    },
    ({ path, severity: own = 'error', ...finding }) => {
      const severity = strict ? 'error' : own;
      if (severity === 'error') isGood = false;
      if (diagnostics.length >= maxDiagnostics) more += 1;
      else diagnostics.push(toDiagnostic({ ...finding, severity }, { file, source, offset: offsetOf(path) }));
    },
  );
  if (more > 0) {
    const message = `There is more of the kind: ${more} further findings are not shown.`;
    const hint = 'Correct those that are, and look again.';
    const severity = isGood ? 'warning' : 'error';
    diagnostics.push(toDiagnostic({ severity, code: 'tool.metadata.more', message, hint }, { file, source, offset }));
  }
  if (!isGood) return { type: 'refused', diagnostics };
  return { type: 'read', metadata, nameOffset: offsetOf(['name']), diagnostics };
}

// Of one file: nobody reads more, and a file could have any number.
const maxDiagnostics = 100;
