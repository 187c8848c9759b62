import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LiteralPath } from '../parse/literal.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import { checkMetadata } from './metadata.ts';
import type { MetadataLiteral, ToolMetadata } from './types.ts';

export type MetadataReading =
  | {
      readonly type: 'read';
      readonly metadata: ToolMetadata;
      /** Offset of `name` in the source, for findings across files. */
      readonly nameOffset: number;
      /** Warnings. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] };

/** The metadata literal of a tool file. */
export interface FoundLiteral extends Omit<MetadataLiteral, 'value'> {
  readonly value: Json;
  /** For display, with backticks. */
  readonly subject: string;
  /** Offset in the source. */
  readonly offset: number;
  /** Offset in the source of the member at `path`, or of its nearest existing parent. */
  offsetOf(path: LiteralPath): number;
}

/** Checks a metadata literal. `strict` turns warnings into errors. */
export function checkLiteral(
  { form, value, findFunction, own, subject, offset, offsetOf }: FoundLiteral,
  { file, source, strict }: { readonly file: string; readonly source: string; readonly strict: boolean },
): MetadataReading {
  if (!isPlainObject(value)) {
    const message = `${subject} is not an object.`;
    const hint = 'Write `{ name, function, description, dangerous, parameters }`.';
    const finding = { code: 'tool.metadata.invalid', reason: 'not_literal', message, hint };
    return { type: 'refused', diagnostics: [toDiagnostic(finding, { file, source, offset })] };
  }
  const diagnostics: Diagnostic[] = [];
  let isGood = true;
  let more = 0;
  // Read from a literal, so plain JSON.
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
    const message = `${more} more findings are not shown.`;
    const hint = 'Fix the others first, then check again.';
    const severity = isGood ? 'warning' : 'error';
    diagnostics.push(
      toDiagnostic(
        { severity, code: 'tool.metadata.invalid', reason: 'more', message, hint },
        { file, source, offset },
      ),
    );
  }
  if (!isGood) return { type: 'refused', diagnostics };
  return { type: 'read', metadata, nameOffset: offsetOf(['name']), diagnostics };
}

// Per file: a file can have any number.
const maxDiagnostics = 100;
