import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import { readLenientJson } from '@holdfast/prompt/json';
import { isNodeId, type Reference } from './types.ts';
import { formatPath, readPath } from './value-path.ts';
import { show } from './violations.ts';

/** A text split into literal parts and references. */
export interface TextReading {
  /** Never two adjacent or any empty literal parts. */
  readonly parts: readonly (string | Reference)[];
  /** One entry per invalid `{{STEPS…`. */
  readonly problems: readonly string[];
}

// Text that starts like this is meant as a reference, so an error in it is a mistake. Other braces are literal.
const head = /\{\{\s*steps\s*(?=[.[|}])/iy;
const blank = /\s*/y;
const idText = /[A-Za-z0-9_-]+/y;

/**
 * Finds `{{STEPS.id.path | default: "…"}}` in a text. `STEPS` is case-insensitive, spaces inside the braces are allowed, and `STEPS[id]` is
 * an alternative. The default is a JSON string (single quotes allowed), a number, `true`, `false` or `null`, and cannot contain references.
 * Linear in the length of the text.
 */
export function parseText(text: string): TextReading {
  const parts: (string | Reference)[] = [];
  const problems: string[] = [];
  let textStart = 0;
  for (let open = text.indexOf('{{'); open !== -1; ) {
    head.lastIndex = open;
    const begin = head.exec(text)?.[0];
    if (begin === undefined) {
      open = text.indexOf('{{', open + 1);
      continue;
    }
    const reading = readReference(text, open + begin.length);
    if (typeof reading === 'string') {
      problems.push(`Invalid reference ${show(text.slice(open, open + 40))}: ${reading}.`);
      open = text.indexOf('{{', open + 2);
      continue;
    }
    if (open > textStart) parts.push(text.slice(textStart, open));
    parts.push(reading.reference);
    textStart = reading.end;
    open = text.indexOf('{{', textStart);
  }
  if (textStart < text.length) parts.push(text.slice(textStart));
  return { parts, problems };
}

/** Formats a reference so that `parseText` reads it back; deterministic. */
export function formatTextReference({ from, path, default: fallback }: Reference): string {
  const steps = formatPath(path);
  const tail = steps === '' || steps.startsWith('[') ? steps : `.${steps}`;
  return `{{STEPS.${from}${tail}${fallback === undefined ? '' : ` | default: ${JSON.stringify(fallback)}`}}}`;
}

interface Found {
  readonly reference: Reference;
  readonly end: number;
}

function readReference(text: string, start: number): Found | string {
  const named = readId(text, start);
  if (typeof named === 'string') return named;
  const walked = readPath(text, named.end);
  if (!walked.ok) return walked.problem;
  const { path } = walked;
  let at = skipBlank(text, walked.end);
  if (text.startsWith('}}', at)) return { reference: { from: named.id, path }, end: at + 2 };
  if (text[at] !== '|') return at >= text.length ? '`}}` is missing' : 'expected `}}` or `| default:` after the path';
  at = skipBlank(text, at + 1);
  if (!text.startsWith('default', at)) return 'expected `default:` after `|`';
  at = skipBlank(text, at + 'default'.length);
  if (text[at] !== ':') return 'expected a colon after `default`';
  const fallback = readDefault(text, skipBlank(text, at + 1));
  if (typeof fallback === 'string') return fallback;
  at = skipBlank(text, fallback.end);
  if (!text.startsWith('}}', at)) return 'expected `}}` after the default';
  return { reference: { from: named.id, path, default: fallback.value }, end: at + 2 };
}

function readId(text: string, start: number): { readonly id: number | string; readonly end: number } | string {
  const bracket = text[start] === '[';
  if (!bracket && text[start] !== '.') return 'it has no step id';
  idText.lastIndex = start + 1;
  const written = idText.exec(text)?.[0] ?? '';
  const id = /^(?:0|[1-9]\d*)$/.test(written) ? Number(written) : written;
  if (!isNodeId(id)) return 'it has an invalid step id';
  const end = start + 1 + written.length;
  if (!bracket) return { id, end };
  return text[end] === ']' ? { id, end: end + 1 } : 'expected `]` after the id';
}

function readDefault(text: string, start: number): { readonly value: Json; readonly end: number } | string {
  const reading = /["'\w.+-]/.test(text[start] ?? '') ? readLenientJson(text, start) : undefined;
  const parsed = reading?.type === 'value' ? parseJson(reading.json) : undefined;
  if (reading?.type !== 'value' || parsed?.ok !== true)
    return 'a default must be a JSON string, a number, `true`, `false` or `null`';
  return holdsReference(parsed.value)
    ? 'a default cannot contain references'
    : { value: parsed.value, end: reading.end };
}

/** True if `value` contains a reference of either form, even an invalid one. */
export function holdsReference(value: Json): boolean {
  if (typeof value === 'string') {
    for (let open = value.indexOf('{{'); open !== -1; open = value.indexOf('{{', open + 1)) {
      head.lastIndex = open;
      if (head.test(value)) return true;
    }
    return false;
  }
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return (value as readonly Json[]).some(holdsReference);
  return Object.hasOwn(value, '$from') || Object.values(value).some(holdsReference);
}

function skipBlank(text: string, start: number): number {
  blank.lastIndex = start;
  return start + (blank.exec(text)?.[0].length ?? 0);
}
