import { createHmac } from 'node:crypto';
import type { Json, Redactor } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import { deriveKey } from './key.ts';
import { KnownSecrets } from './known.ts';
import { textsIn } from './marked.ts';
import { createNameTest, defaultSecretKeys } from './names.ts';
import { readJson } from './pairs.ts';
import { createShapeSearch, defaultSecretPatterns } from './shapes.ts';
import { isMask, type Masking, redactText } from './text.ts';
import { toRedactor } from './to-redactor.ts';

export interface RedactorOptions {
  /**
   * The host's secret for masks and digests: at least 16 bytes, or text of that length. Keep it and reuse it for logs whose masks you
   * want to compare.
   */
  readonly key: string | Uint8Array;
  /** Secrets known from the start and never forgotten, such as the host's own credentials. */
  readonly secrets?: readonly string[];
  /** Names whose values are secret. Default: `defaultSecretKeys`, which you can extend. */
  readonly keys?: readonly string[];
  /**
   * Patterns of secrets; only a group named `secret` is masked, if present. Each should run in linear time. Default:
   * `defaultSecretPatterns`, which you can extend.
   */
  readonly patterns?: readonly RegExp[];
}

/** Size of the mask cache. */
const maxMasks = 100;
/** Far more than needed, unless an input is made so that each round causes another. */
const maxRounds = 100;
/** JSON nested more deeply is masked as a whole. */
const maxDepth = 200;

/**
 * Creates a redactor that masks secrets in everything that a session records: learned values in any common encoding, values under
 * names like `password`, and tokens of well-known issuers. A mask is `[redacted:` with twelve hexadecimal digits of a keyed digest
 * and `]`: with one key, equal secrets have equal masks.
 *
 * @throws HoldfastError `options.invalid` for a key of fewer than 16 bytes.
 */
export function createRedactor({
  key,
  secrets = [],
  keys = defaultSecretKeys,
  patterns = defaultSecretPatterns,
}: RedactorOptions): Redactor {
  const bytes = deriveKey(key, 'mask');
  const hmac = (text: string): string => createHmac('sha256', bytes).update(text, 'utf8').digest('hex');
  const known = new KnownSecrets(secrets);
  const masks = new Map<string, string>();
  const maskOf = (secret: string): string => {
    let mask = masks.get(secret);
    if (mask === undefined) {
      mask = `[redacted:${hmac(secret).slice(0, 12)}]`;
      // Most masks repeat a recent one.
      if (masks.size >= maxMasks) masks.clear();
      masks.set(secret, mask);
    }
    return mask;
  };
  const walk = createWalk({
    isSecretName: createNameTest(keys),
    findShapes: createShapeSearch(patterns),
    known,
    maskOf,
    hide(json) {
      if (json === null || json === '' || typeof json === 'boolean') return json;
      // A count: `{ "reset_password": 3 }`.
      if (typeof json === 'number' && Math.abs(json) < 1_000) return json;
      if (typeof json === 'string' && isMask(json)) return json;
      for (const text of textsIn(json)) if (!isMask(text) && isTelling(text)) known.learn(text);
      return maskOf(typeof json === 'string' ? json : toCanonicalJson(json));
    },
  });
  return toRedactor({
    redact(json: Json): Json {
      // A value under a secret name may also occur before it, and a mask may turn one name into another: repeat.
      let current = json;
      for (let round = 0; round < maxRounds; round += 1) {
        const next = walk(current, 0);
        if (next === current) break;
        current = next;
      }
      return current;
    },
    learn(secret: string): void {
      if (!isMask(secret)) known.learn(secret);
    },
    digest: (json: Json): string => hmac(toCanonicalJson(json)),
  });
}

/** True if a value is distinctive enough to mask elsewhere: an ordinary word used as a password is not. */
function isTelling(value: string): boolean {
  return value.length >= 16 || (value.length >= 8 && !/^\p{L}*$/u.test(value));
}

/** Pairs of fields that name a value and hold it: headers, variables. */
const nameFields = ['name', 'key', 'header', 'variable'];
const valueFields = ['value'];

function createWalk(masking: Masking): (json: Json, depth: number) => Json {
  const { isSecretName, known, maskOf, hide } = masking;

  const walk = (json: Json, depth: number): Json => {
    if (typeof json === 'string') return redactText(json, masking, (text) => redactJsonText(text, depth));
    if (typeof json === 'number') return known.has(String(json)) ? maskOf(String(json)) : json;
    if (typeof json !== 'object' || json === null) return json;
    if (depth >= maxDepth) return maskOf('nested too deeply');
    return Array.isArray(json) ? walkList(json, depth) : walkObject(json as { readonly [key: string]: Json }, depth);
  };

  const walkList = (list: readonly Json[], depth: number): Json => {
    const pairs = list.length > 0 && list.every(isPair);
    let copy: Json[] | undefined;
    for (const [index, item] of list.entries()) {
      const masked = pairs && isPair(item) && isSecretName(item[0]) ? hidePair(item) : walk(item, depth + 1);
      if (copy === undefined && masked !== item) copy = list.slice(0, index);
      copy?.push(masked);
    }
    return copy ?? list;
  };

  const hidePair = (pair: readonly [string, Json]): Json => {
    const name = walkKey(pair[0]);
    const hidden = hide(pair[1]);
    return name === pair[0] && hidden === pair[1] ? pair : [name, hidden];
  };

  const walkObject = (object: { readonly [key: string]: Json }, depth: number): Json => {
    const named = namedField(object);
    let changed = false;
    const entries: [string, Json][] = [];
    const taken = new Set<string>();
    for (const key of Object.keys(object)) {
      const inner = object[key];
      // Events for observers may have undefined fields.
      if (inner === undefined) continue;
      const masked = key === named || isSecretName(key) ? hide(inner) : walk(inner, depth + 1);
      const name = free(walkKey(key), taken);
      if (name !== key || masked !== inner) changed = true;
      entries.push([name, masked]);
    }
    // Not by assignment: `__proto__` is an ordinary key here.
    return changed ? Object.fromEntries(entries) : object;
  };

  const walkKey = (key: string): string => redactText(key, masking, () => undefined);

  const namedField = (object: { readonly [key: string]: Json }): string | undefined => {
    const field = nameFields.find((name) => Object.hasOwn(object, name));
    const name = field === undefined ? undefined : object[field];
    if (typeof name !== 'string' || !isSecretName(name)) return undefined;
    return valueFields.find((value) => Object.hasOwn(object, value));
  };

  const redactJsonText = (text: string, depth: number): string | undefined => {
    const parsed = readJson(text);
    const masked = parsed === undefined ? parsed : walk(parsed, depth + 1);
    return masked === parsed ? undefined : JSON.stringify(masked);
  };

  return walk;
}

function isPair(item: Json): item is readonly [string, Json] {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';
}

function free(name: string, taken: Set<string>): string {
  let unique = name;
  for (let count = 2; taken.has(unique); count += 1) unique = `${name}#${count}`;
  taken.add(unique);
  return unique;
}
