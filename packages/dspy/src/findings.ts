import { toPrintable } from '@holdfast/core/internal';

/** Reasons of `dspy.invalid`. */
export type DspyReason =
  | 'demo_invalid'
  | 'demo_not_rendered'
  | 'field_other'
  | 'fields_mismatch'
  | 'format_old'
  | 'key_ignored'
  | 'pickle'
  | 'predictor_extra'
  | 'predictor_missing'
  | 'prefix_custom'
  | 'state'
  | 'too_large'
  | 'tool_unknown'
  | 'tools_unlisted'
  | 'version_other';

/** A problem or a warning about a DSPy state. */
export interface DspyProblem {
  readonly code: string;
  readonly reason?: string;
  /** The place in the file: `hop[0].demos[3].answer`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
}

/** A file may have a million unknown keys; beyond this number they are counted together. */
const maxIgnored = 1_000;

/** Collects all findings about a file, so that they are reported at once. */
export class DspyFindings {
  readonly problems: DspyProblem[] = [];
  readonly warnings: DspyProblem[] = [];
  /** How often each path was ignored; items of a list count together, as `demos[]`. */
  readonly ignored: Map<string, number> = new Map();

  refuse(reason: DspyReason, path: string, message: string): void {
    this.problems.push({ code: 'dspy.invalid', reason, path, message });
  }

  warn(reason: DspyReason, path: string, message: string): void {
    this.warnings.push({ code: 'dspy.invalid', reason, path, message });
  }

  ignore(path: string): void {
    const place = this.ignored.has(path) || this.ignored.size < maxIgnored ? path : '…';
    this.ignored.set(place, (this.ignored.get(place) ?? 0) + 1);
  }
}

/** `a.b`; DSPy paths may be empty. */
export function joinPath(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('.');
}

/** Text of a file within a message: one line, of bounded length. */
export function quote(text: string, maxLength = 80): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return `\`${toPrintable(shown).replaceAll('`', "'")}\``;
}

/** At most twenty of them. */
export function quoteAll(texts: readonly string[]): string {
  if (texts.length === 0) return 'none';
  const shown = texts.slice(0, 20).map((text) => quote(text));
  return texts.length > 20 ? `${shown.join(', ')} and ${texts.length - 20} more` : shown.join(', ');
}
