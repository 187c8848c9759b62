import { describeCode } from '@holdfast/core/internal';
import { makeVisible } from './hidden-text.ts';

/** A finding about a tool file. An error refuses the file's tool; a warning does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** The finer kind within the code. */
  readonly reason?: string;
  /** Relative to the tools folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** One line, without control or invisible characters. */
  readonly message: string;
  readonly hint: string;
}

/**
 * Formats a diagnostic as plain text: `plugins/x.mjs:3:15 error tool.schema.vague  message`, and the hint on its own
 * line. `folder` is prefixed to the file, so that a terminal can open it.
 */
export function formatDiagnostic(diagnostic: Diagnostic, { folder = '' }: { readonly folder?: string } = {}): string {
  const { severity, line, column, message, hint } = diagnostic;
  const file = folder === '' ? diagnostic.file : `${folder.replace(/\/+$/, '')}/${diagnostic.file}`;
  return `${makeVisible(file)}:${line}:${column} ${severity} ${describeCode(diagnostic)}  ${message}\n  hint: ${hint}`;
}

/** Sorts diagnostics by file and position. */
export function compareDiagnostics(left: Diagnostic, right: Diagnostic): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}

/** Reasons of `tool.file.invalid`. */
export type FileReason =
  | 'encoding'
  | 'folder.unreadable'
  | 'not_regular'
  | 'symlink'
  | 'syntax'
  | 'too_complex'
  | 'too_large'
  | 'twin'
  | 'unreadable';

/** A finding without line and column. */
export interface Finding {
  readonly severity?: 'error' | 'warning';
  readonly code: string;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly hint: string;
}

const maxMessageLength = 500;

/** Converts a finding at an offset of `source` to a diagnostic that is safe to print. */
export function toDiagnostic(
  finding: Finding,
  place: { readonly file: string; readonly source?: string; readonly offset?: number },
): Diagnostic {
  const { severity = 'error', code, reason, message, hint } = finding;
  const { file, source = '', offset = 0 } = place;
  const kind = reason === undefined ? { code } : { code, reason };
  return { severity, ...kind, file, ...lineAndColumn(source, offset), message: clean(message), hint: clean(hint) };
}

function clean(text: string): string {
  // Making characters visible only lengthens the text.
  const visible = makeVisible(text.slice(0, maxMessageLength + 1));
  return visible.length <= maxMessageLength ? visible : `${visible.slice(0, maxMessageLength - 1)}…`;
}

function lineAndColumn(source: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset && index < source.length; index += 1) {
    const unit = source.charCodeAt(index);
    // A carriage return ends a line unless a line feed follows.
    const isEnd = unit === 10 || (unit === 13 && (index + 1 >= offset || source.charCodeAt(index + 1) !== 10));
    if (!isEnd) continue;
    line += 1;
    start = index + 1;
  }
  return { line, column: Math.min(offset, source.length) - start + 1 };
}
