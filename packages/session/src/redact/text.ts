import type { Json } from '@holdfast/core';
import type { KnownSecrets } from './known.ts';
import { findNamedValues } from './pairs.ts';
import type { Span } from './shapes.ts';

/** The parts of a redactor that find and replace secrets. */
export interface Masking {
  readonly isSecretName: (name: string) => boolean;
  readonly findShapes: (text: string) => readonly Span[];
  readonly known: KnownSecrets;
  /** The mask of `secret`. */
  readonly maskOf: (secret: string) => string;
  /** The mask of a whole value under a secret name; values without information stay. */
  readonly hide: (json: Json) => Json;
}

const wholeMask = /^\[redacted:[0-9a-f]{12}\]$/;

export function isMask(text: string): boolean {
  return text.length === 23 && wholeMask.test(text);
}

/** Rounds in which a text is searched again after a mask; then all of it is masked. */
const maxRounds = 16;
/** Levels of nested encodings. */
const maxEncodings = 3;

/**
 * Masks `text`. `redactJson` does the same for the JSON in the text, or returns `undefined`.
 * Repeats until nothing more is found, so that masking is idempotent.
 */
export function redactText(text: string, masking: Masking, redactJson: (text: string) => string | undefined): string {
  let current = text;
  for (let round = 0; round < maxRounds; round += 1) {
    const next = lookThrough(current, masking, redactJson);
    if (next === current) return current;
    current = next;
  }
  return masking.maskOf(text);
}

function lookThrough(text: string, masking: Masking, redactJson: (text: string) => string | undefined): string {
  if (text === '' || isMask(text)) return text;
  if (masking.known.has(text)) return masking.maskOf(text);
  // As text first, which keeps the spacing and numbers of JSON.
  const plain = maskFound(maskNamed(text, masking), masking);
  const whole = redactJson(plain) ?? plain;
  if (whole !== text) return whole;
  // Nothing found in clear: mask secrets behind escapes in the decoded text.
  let decoded = text;
  for (let depth = 0; depth < maxEncodings; depth += 1) {
    const before = decoded;
    decoded = decodePercent(decodeEscapes(decoded));
    if (decoded === before) break;
    const masked = maskFound(decoded, masking);
    if (masked !== decoded) return masked;
  }
  return text;
}

const count = /^-?\d{1,3}$/;

function maskNamed(text: string, { isSecretName, hide }: Masking): string {
  let masked = '';
  let at = 0;
  for (const { start, end, value, unquoted } of findNamedValues(text, isSecretName)) {
    const mask = String(hide(unquoted && count.test(String(value)) ? Number(value) : value));
    if (mask === String(value)) continue;
    masked += `${text.slice(at, start)}${unquoted ? `"${mask}"` : mask}`;
    at = end;
  }
  return at === 0 ? text : masked + text.slice(at);
}

interface Found extends Span {
  readonly secret: string;
}

/** Masks known secrets and patterns in one pass; where both match, the known secret wins. */
function maskFound(text: string, { known, findShapes, maskOf }: Masking): string {
  const spans = combine(known.find(text), findShapes(text), text);
  if (spans.length === 0) return text;
  let masked = '';
  let at = 0;
  for (const { start, end, secret } of spans) {
    masked += `${text.slice(at, Math.max(at, start))}${maskOf(secret)}`;
    at = Math.max(at, end);
  }
  return masked + text.slice(at);
}

/** Merges both in order; drops patterns that touch a known secret. */
function combine(known: readonly Found[], shapes: readonly Span[], text: string): readonly Found[] {
  if (shapes.length === 0) return known;
  const spans: Found[] = [];
  let next = 0;
  let covered = 0;
  for (const { start, end } of shapes) {
    for (let span = known[next]; span !== undefined && span.start < start; span = known[next]) {
      spans.push(span);
      covered = Math.max(covered, span.end);
      next += 1;
    }
    const secret = text.slice(start, end);
    if (covered > start || (known[next]?.start ?? end) < end || isMask(secret)) continue;
    spans.push({ start, end, secret });
  }
  for (const span of known.slice(next)) spans.push(span);
  return spans;
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Decodes escapes of JSON and JavaScript strings. */
export function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([^ux]))/gs,
    (whole, four?: string, braced?: string, two?: string, unit?: string) => {
      if (unit !== undefined) return shortEscapes.get(unit) ?? unit;
      const code = Number.parseInt(four ?? braced ?? two ?? '', 16);
      return code > 0x10ffff ? whole : String.fromCodePoint(code);
    },
  );
}

/** Decodes percent-encoding where the result is UTF-8. */
function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      // Not UTF-8, so not a recognizable text.
      return run;
    }
  });
}
