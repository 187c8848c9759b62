import { HoldfastError } from '@holdfast/core';
import { foldName } from './names.ts';
import type { RegisteredKind } from './types.ts';

/** A name used by an active plugin or pack. */
export interface Claim {
  /** `pack-version`: the version of a pack, its `value`; all uses of the pack share it. */
  readonly kind: RegisteredKind | 'pack-version';
  readonly name: string;
  /** For display: "the plugin `git` 1.0.0". */
  readonly owner: string;
  /** Several plugins may contribute the same value. */
  readonly value?: unknown;
}

/** Kinds that are looked up by exact name only; models and people read the others, and may mix up similar names. */
const exactKinds: ReadonlySet<Claim['kind']> = new Set(['policy', 'slice', 'model', 'resource']);

/**
 * The names taken in a registry. A chain of registries shares one instance that only the last, the `holder`, extends,
 * so that using a thousand plugins does not copy a thousand lists.
 */
export class Claims {
  readonly #taken = new Map<string, Claim>();
  holder: object | undefined;

  /**
   * Adds all of them, or none. @throws HoldfastError `registry.invalid`.
   */
  add(claims: readonly Claim[]): void {
    const added = new Map<string, Claim>();
    for (const claim of claims) {
      const key = toKey(claim);
      const taken = this.#taken.get(key);
      if (taken === undefined) added.set(key, claim);
      else if (taken.value === undefined || taken.value !== claim.value) throw toConflict(taken, claim);
    }
    for (const [key, claim] of added) this.#taken.set(key, claim);
  }
}

export function toKey({ kind, name }: Pick<Claim, 'kind' | 'name'>): string {
  return `${kind}:${exactKinds.has(kind) ? name : foldName(name)}`;
}

function toConflict(taken: Claim, { kind, name, owner }: Claim): HoldfastError {
  const data = { kind, names: [taken.name, name], owners: [taken.owner, owner] };
  if (kind === 'plugin') {
    return new HoldfastError(
      'registry.invalid',
      `${capital(taken.owner)} conflicts with ${owner}, which has ${taken.name === name ? 'the same name' : 'a name that looks alike'}: use one of them.`,
      { data: { reason: 'plugin.duplicate', ...data } },
    );
  }
  if (kind === 'pack-version') {
    return new HoldfastError(
      'registry.invalid',
      `${capital(taken.owner)} conflicts with ${owner}: another version, or a name that looks alike. Use one of them.`,
      { data: { reason: 'pack.duplicate', ...data } },
    );
  }
  if (kind === 'pack') {
    return new HoldfastError(
      'registry.invalid',
      `${capital(taken.owner)} is already used as \`${taken.name}\`, and ${owner} would be used as \`${name}\`: use one of them, or give one another \`id\`.`,
      { data: { reason: 'pack.duplicate', ...data } },
    );
  }
  const names =
    taken.name === name
      ? `the ${kind} \`${name}\``
      : `the ${kind}s \`${taken.name}\` and \`${name}\`, which look alike`;
  return new HoldfastError(
    'registry.invalid',
    `${capital(taken.owner)} and ${owner} have ${names}: ${wayOut(kind, name)}.`,
    { data: { reason: 'name.conflict', ...data } },
  );
}

function wayOut(kind: Claim['kind'], name: string): string {
  const prefix = 'use one of them with a `prefix`';
  switch (kind) {
    case 'tool':
    case 'command':
      return `${prefix}, or choose an owner: \`winners: { '${name}': <plugin> }\``;
    case 'section':
      return prefix;
    case 'policy':
      return 'give the pack another `id`, or use one of them';
    default:
      return 'use one of them';
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
