import { Buffer } from 'node:buffer';
import type { Span } from './shapes.ts';

/** An occurrence of a known secret, in any encoding. */
export interface KnownSpan extends Span {
  readonly secret: string;
}

/** Shorter secrets are masked only where they stand alone. */
const shortestInText = 4;
/** Total characters of remembered secrets; beyond that the older half is forgotten. */
const maxRemembered = 1_048_576;
/** Longer secrets are indexed in fewer encodings. */
const longest = 16_384;
const maskStart = '[redacted:';
const maskLength = 23;
const maskDigits = 12;

/** Known secrets by their encodings. The search time does not depend on their number. */
export class KnownSecrets {
  readonly #pinned: ReadonlySet<string>;
  /** In the order learned. */
  #learned = new Set<string>();
  #remembered = 0;
  /** Secret by encoding, by length, by the first four characters. */
  #byStart = new Map<string, Map<number, Map<string, string>>>();
  /** One bit per hash of four characters; rules out most of a text. */
  #starts = new Uint8Array(8_192);

  /** `pinned` secrets are never forgotten. */
  constructor(pinned: readonly string[]) {
    this.#pinned = new Set(pinned.filter((secret) => secret.trim() !== ''));
    for (const secret of this.#pinned) this.#index(secret);
  }

  learn(secret: string): void {
    if (secret.trim() === '' || this.has(secret)) return;
    this.#learned.add(secret);
    this.#remembered += secret.length;
    if (this.#remembered > maxRemembered && this.#learned.size > 1) this.#forget();
    else this.#index(secret);
  }

  /** True if the whole `text` is a secret. */
  has(text: string): boolean {
    return this.#pinned.has(text) || this.#learned.has(text);
  }

  /** All occurrences in order. They may overlap: each is part of a secret. */
  find(text: string): readonly KnownSpan[] {
    const spans: KnownSpan[] = [];
    if (this.#byStart.size === 0) return spans;
    const last = text.length - shortestInText;
    let covered = 0;
    for (let at = 0; at <= last; at += 1) {
      if (text.charCodeAt(at) === bracket && isMaskAt(text, at)) {
        const secret = this.#hiddenIn(text, at + maskStart.length);
        if (secret !== undefined) spans.push({ start: at, end: at + maskLength, secret });
        at += maskLength - 1;
        covered = at + 1;
        continue;
      }
      const hit = this.#startsAt(text, at);
      if (hit === undefined || hit.end <= covered) continue;
      spans.push(hit);
      covered = hit.end;
    }
    return spans;
  }

  /** The longest encoding that begins at `at`. */
  #startsAt(text: string, at: number): KnownSpan | undefined {
    const hash = hashAt(text, at);
    if (((this.#starts[hash >> 3] ?? 0) & (1 << (hash & 7))) === 0) return undefined;
    const byLength = this.#byStart.get(text.slice(at, at + shortestInText));
    let longestHit: KnownSpan | undefined;
    for (const [length, forms] of byLength ?? []) {
      if (length <= (longestHit === undefined ? 0 : longestHit.end - at)) continue;
      const secret = forms.get(text.slice(at, at + length));
      if (secret !== undefined) longestHit = { start: at, end: at + length, secret };
    }
    return longestHit;
  }

  /** A fake mask may carry a short secret in hexadecimal; a match of four digits means nothing yet. */
  #hiddenIn(text: string, start: number): string | undefined {
    for (let at = start; at <= start + maskDigits - 8; at += 1) {
      const hit = this.#startsAt(text, at);
      if (hit !== undefined && hit.end - at >= 8) return hit.secret;
    }
    return undefined;
  }

  #forget(): void {
    const kept = [...this.#learned].slice(Math.ceil(this.#learned.size / 2));
    this.#learned = new Set(kept);
    this.#remembered = kept.reduce((sum, { length }) => sum + length, 0);
    this.#byStart = new Map();
    this.#starts = new Uint8Array(8_192);
    for (const secret of [...this.#pinned, ...kept]) this.#index(secret);
  }

  #index(secret: string): void {
    if (secret.length < shortestInText) return;
    this.#add(secret, secret, true);
    for (const form of formsOf(secret)) if (form.length >= shortestInText) this.#add(form, secret, false);
  }

  #add(form: string, secret: string, itself: boolean): void {
    const hash = hashAt(form, 0);
    this.#starts[hash >> 3] = (this.#starts[hash >> 3] ?? 0) | (1 << (hash & 7));
    const start = form.slice(0, shortestInText);
    const byLength = this.#byStart.get(start) ?? new Map<number, Map<string, string>>();
    this.#byStart.set(start, byLength);
    const forms = byLength.get(form.length) ?? new Map<string, string>();
    byLength.set(form.length, forms);
    // A secret itself is not indexed as an encoding of another one.
    if (itself || !forms.has(form)) forms.set(form, secret);
  }
}

function formsOf(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret, 'utf8');
  const escaped = JSON.stringify(secret).slice(1, -1);
  const base64 = bytes.toString('base64');
  const forms = new Set([secret.trim(), escaped, JSON.stringify(escaped).slice(1, -1), base64]);
  if (secret.length > longest) return forms;
  const url = bytes.toString('base64url');
  const hex = bytes.toString('hex');
  for (const form of [secret.toLowerCase(), secret.toUpperCase(), base64.replace(/=+$/, ''), url, hex]) forms.add(form);
  forms.add(hex.toUpperCase());
  for (const form of percentForms(secret, base64)) forms.add(form);
  for (const form of withinBase64(bytes)) forms.add(form);
  return forms;
}

function percentForms(secret: string, base64: string): readonly string[] {
  // A lone surrogate has no such encoding.
  const encoded = encodeURIComponent(secret.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [encoded, strict, encoded.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  const lower = forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (unit) => unit.toLowerCase()));
  return [...forms, ...lower, encodeURIComponent(base64)];
}

/** The part of a longer base64 text that encodes only the secret, for each alignment: `user:password`. */
function withinBase64(bytes: Buffer): readonly string[] {
  if (bytes.length < 8) return [];
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = padded.toString('base64');
    const core = whole.slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const bracket = 91;
const digits = /^[0-9a-f]{12}\]/;

function isMaskAt(text: string, at: number): boolean {
  const digitsAt = at + maskStart.length;
  return text.startsWith(maskStart, at) && digits.test(text.slice(digitsAt, digitsAt + maskDigits + 1));
}

function hashAt(text: string, at: number): number {
  const first = text.charCodeAt(at) * 31 + text.charCodeAt(at + 1);
  return ((first * 31 + text.charCodeAt(at + 2)) * 31 + text.charCodeAt(at + 3)) & 0xffff;
}
