import { HoldfastError } from '@holdfast/core';
import { copyJson } from '@holdfast/core/internal';

/** A template taken apart once: text, and names of placeholders between. */
export interface Template {
  /** The source without the indentation that all lines share and without blank lines at both ends. */
  readonly text: string;
  readonly parts: readonly (string | { readonly placeholder: string })[];
}

const token = /\$\$|\$\{([^}\n]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)|\$\{/g;

/**
 * Reads a template: `$name` and `${name}` are placeholders, `$$` is a dollar sign, and any other `$` stands for itself. The
 * indentation that all lines share and blank lines at both ends are taken off first. `names` are the placeholders there may be;
 * `place` says in errors where the template stands.
 *
 * @throws HoldfastError `prompt.invalid`.
 */
export function parseTemplate(
  source: string,
  { names, place }: { readonly names: readonly string[]; readonly place: string },
): Template {
  const text = dedent(source);
  const parts: (string | { readonly placeholder: string })[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[0] === '$$') {
      parts.push('$');
      continue;
    }
    const placeholder = match[1]?.trim() ?? match[2] ?? '';
    if (placeholder === '') {
      throw new HoldfastError(
        'prompt.invalid',
        `A \`\${\` in ${place} is not closed or has no name: write \`\${name}\`, or \`$$\` for a dollar sign.`,
        { data: { reason: 'placeholder.invalid', place } },
      );
    }
    if (!names.includes(placeholder)) {
      const known =
        names.length === 0 ? 'it has no parameters' : `it has ${names.map((name) => `\`${name}\``).join(', ')}`;
      throw new HoldfastError(
        'prompt.invalid',
        `The placeholder \`$${placeholder}\` in ${place} is not one of its parameters: ${known}. Write \`$$\` for a dollar sign.`,
        { data: { reason: 'placeholder.unknown', place, placeholder } },
      );
    }
    parts.push({ placeholder });
  }
  parts.push(text.slice(end));
  return { text, parts };
}

/** Fills the placeholders; inserted text is not parsed again. */
export function fillTemplate({ parts }: Template, textOf: (placeholder: string) => string): string {
  return parts.map((part) => (typeof part === 'string' ? part : textOf(part.placeholder))).join('');
}

function dedent(source: string): string {
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0] ?? '');
  let shared = indents[0] ?? '';
  for (const indent of indents) {
    while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
  }
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines
    .slice(Math.max(first, 0), last + 1)
    .map((line) => (line.trim() === '' ? '' : line.slice(shared.length)))
    .join('\n');
}

/**
 * How a parameter reads in a prompt: a string as it is, numbers and booleans in JavaScript's spelling, nothing for null and
 * undefined, a date in ISO form, a list of these joined by `, `, any other JSON as compact JSON. `undefined` for what has no
 * text: functions, class instances, invalid dates, cycles.
 */
export function toParameterText(value: unknown): string | undefined {
  const scalar = toScalarText(value);
  if (scalar !== undefined) return scalar;
  if (Array.isArray(value)) {
    const items = value.map(toScalarText);
    if (items.every((item) => item !== undefined)) return items.join(', ');
  }
  const copied = copyJson(value);
  return copied.ok ? JSON.stringify(copied.value) : undefined;
}

function toScalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'undefined':
      return '';
    case 'object':
      if (value === null) return '';
      return value instanceof Date && Number.isFinite(value.getTime()) ? value.toISOString() : undefined;
    case 'function':
    case 'symbol':
      return undefined;
  }
}
