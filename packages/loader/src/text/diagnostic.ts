import { makeVisible } from './hidden-text.ts';

/** Something to know about a tool file. An error keeps the file's tool out; a warning does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: string;
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
 * One diagnostic as plain text: `plugins/x.mjs:3:15 error tool.schema.vague  message`, and the hint on a line of its own.
 * `folder` goes before the file, so that a terminal can open the place.
 */
export function formatDiagnostic(diagnostic: Diagnostic, { folder = '' }: { readonly folder?: string } = {}): string {
  const { severity, code, line, column, message, hint } = diagnostic;
  const file = folder === '' ? diagnostic.file : `${folder.replace(/\/+$/, '')}/${diagnostic.file}`;
  return `${makeVisible(file)}:${line}:${column} ${severity} ${code}  ${message}\n  hint: ${hint}`;
}

/** Puts diagnostics in the order of files, and of places in them. */
export function compareDiagnostics(left: Diagnostic, right: Diagnostic): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}

/** What a check found, before it is known where the place lies in lines. */
export interface Finding {
  readonly severity?: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const maxMessageLength = 500;

/** Turns a finding at an offset of `source` into a diagnostic that is safe to print. */
export function toDiagnostic(
  finding: Finding,
  place: { readonly file: string; readonly source?: string; readonly offset?: number },
): Diagnostic {
  const { severity = 'error', code, message, hint } = finding;
  const { file, source = '', offset = 0 } = place;
  return { severity, code, file, ...lineAndColumn(source, offset), message: clean(message), hint: clean(hint) };
}

function clean(text: string): string {
  // What is made visible only grows.
  const visible = makeVisible(text.slice(0, maxMessageLength + 1));
  return visible.length <= maxMessageLength ? visible : `${visible.slice(0, maxMessageLength - 1)}…`;
}

function lineAndColumn(source: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset && index < source.length; index += 1) {
    const unit = source.charCodeAt(index);
    // A carriage return ends a line unless the line feed after it does.
    const isEnd = unit === 10 || (unit === 13 && (index + 1 >= offset || source.charCodeAt(index + 1) !== 10));
    if (!isEnd) continue;
    line += 1;
    start = index + 1;
  }
  return { line, column: Math.min(offset, source.length) - start + 1 };
}
