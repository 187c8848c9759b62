import type { Json } from '@holdfast/core';
import type { KnownSecrets } from './known.ts';
import { findNamedValues } from './pairs.ts';
import type { Span } from './shapes.ts';

/** What finds secrets, and what is put in their place. */
export interface Masking {
  readonly isSecretName: (name: string) => boolean;
  readonly findShapes: (text: string) => readonly Span[];
  readonly known: KnownSecrets;
  /** The mask of `secret`. */
  readonly maskOf: (secret: string) => string;
  /** The mask of what stood under a secret name, as a whole; what says nothing stays. */
  readonly hide: (json: Json) => Json;
}

const wholeMask = /^\[redacted:[0-9a-f]{12}\]$/;

export function isMask(text: string): boolean {
  return text.length === 23 && wholeMask.test(text);
}

/** Times that a text is looked through again because something in it was masked; then all of it is. */
const maxRounds = 16;
/** How often encodings may lie within each other. */
const maxEncodings = 3;

/**
 * `text` with masks. `redactJson` does the same for what the text is the JSON of, or answers `undefined`.
 * Goes on until nothing more is found, so that doing it twice is doing it once.
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
  // As text first, which keeps the spaces and the numbers of JSON as they are.
  const plain = maskFound(maskNamed(text, masking), masking);
  const whole = redactJson(plain) ?? plain;
  if (whole !== text) return whole;
  // Nothing in it as it stands; what an escape hides is masked in the text without that escape.
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

/** Masks what is known, and what looks like a secret, in one go: a place in both is masked once, as what is known. */
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

/** Both in order; shapes that touch nothing known. */
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

/** Without the escapes of JSON and of JavaScript's strings. */
function decodeEscapes(text: string): string {
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

/** Without the percent signs of URLs and with what they stand for, where that is UTF-8. */
function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      // Not UTF-8, so no text that anybody would know again.
      return run;
    }
  });
}
