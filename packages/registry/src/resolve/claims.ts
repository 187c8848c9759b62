import { HoldfastError } from '@holdfast/core';
import { foldName } from './names.ts';
import type { RegisteredKind } from './types.ts';

/** A name that something in force takes. */
export interface Claim {
  /** `pack-version`: that a pack is of one version, its `value`, however often it is used. */
  readonly kind: RegisteredKind | 'pack-version';
  readonly name: string;
  /** For people: "the plugin `git` 1.0.0". */
  readonly owner: string;
  /** The same thing may be brought along by several. */
  readonly value?: unknown;
}

/** Names by which nothing is looked up but what is exactly so called; others are read by models and people, who mix them up. */
const exactKinds: ReadonlySet<Claim['kind']> = new Set(['policy', 'slice', 'model', 'resource']);

/**
 * The names that are taken in a registry. Registries that follow one another share one: only the last of them, the `holder`, adds to it,
 * so that using a thousand plugins does not copy a thousand lists.
 */
export class Claims {
  readonly #taken = new Map<string, Claim>();
  holder: object | undefined;

  /** All of them, or none. @throws HoldfastError `registry.name.conflict`, `registry.plugin.duplicate`, `registry.pack.duplicate`. */
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
      'registry.plugin.duplicate',
      `There is ${taken.owner} already, and ${owner} ${taken.name === name ? 'has the same name' : 'is easily taken for it'}: use one of them.`,
      { data },
    );
  }
  if (kind === 'pack-version') {
    return new HoldfastError(
      'registry.pack.duplicate',
      `There is ${taken.owner} already, and ${owner} is another version, or easily taken for it: use one of them.`,
      { data },
    );
  }
  if (kind === 'pack') {
    return new HoldfastError(
      'registry.pack.duplicate',
      `There is ${taken.owner} already as \`${taken.name}\`, and ${owner} as \`${name}\`: use one of them, or give one another \`id\`.`,
      { data },
    );
  }
  const names =
    taken.name === name
      ? `the ${kind} \`${name}\``
      : `the ${kind}s \`${taken.name}\` and \`${name}\`, which are easily mixed up`;
  return new HoldfastError(
    'registry.name.conflict',
    `${capital(taken.owner)} and ${owner} have ${names}: ${wayOut(kind, name)}.`,
    { data },
  );
}

function wayOut(kind: Claim['kind'], name: string): string {
  const prefix = 'use one of them with a `prefix`';
  switch (kind) {
    case 'tool':
    case 'command':
      return `${prefix}, or say whose it is: \`winners: { '${name}': <plugin> }\``;
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
