import type { Pack, Plugin, Tool } from '@holdfast/core';
import { describeThrown, isPack, isPlugin } from '@holdfast/core/internal';
import { explainAll } from '../provenance/explain.ts';
import { type RegistryView, toView, type Used } from '../provenance/view.ts';
import { Claims } from '../resolve/claims.ts';
import { holdfastVersion } from '../resolve/holdfast-version.ts';
import { invalid, readOptions, readWinners, type Winners } from '../resolve/host-options.ts';
import { takePack, takePlugin } from '../resolve/take-plugin.ts';
import type { Explanation, Registry, RegistryOptions, UsePackOptions, UsePluginOptions } from '../resolve/types.ts';

/**
 * Creates an empty registry: `createRegistry().use(plugin).use(pack, { preset: 'strict' })`.
 *
 * @throws HoldfastError `registry.invalid`.
 */
export function createRegistry(options?: RegistryOptions): Registry {
  const { winners } = readOptions('The options of a registry', options, ['winners']);
  return new LinkedRegistry({ winners: readWinners(winners), claims: new Claims(), last: undefined });
}

/** The last plugin or pack used, and the previous ones. */
interface Link {
  readonly used: Used;
  readonly before: Link | undefined;
}

interface Parts {
  readonly winners: Winners;
  readonly claims: Claims;
  readonly last: Link | undefined;
}

class LinkedRegistry implements Registry {
  readonly #parts: Parts;
  #view: RegistryView | undefined;
  #explanations: readonly Explanation[] | undefined;
  #byName: ReadonlyMap<string, readonly Explanation[]> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.claims.holder = this;
    Object.freeze(this);
  }

  use(given: Plugin | Pack, options?: UsePluginOptions | UsePackOptions): Registry {
    const { winners, last } = this.#parts;
    const used = take(given, options, winners);
    const claims = this.#parts.claims.holder === this ? this.#parts.claims : this.#claimAgain();
    claims.add(used.claims);
    return new LinkedRegistry({ winners, claims, last: { used, before: last } });
  }

  /** This registry already has a successor that uses the shared claims. */
  #claimAgain(): Claims {
    const claims = new Claims();
    for (const { claims: own } of this.#used()) claims.add(own);
    return claims;
  }

  #used(): readonly Used[] {
    const used: Used[] = [];
    for (let link = this.#parts.last; link !== undefined; link = link.before) used.push(link.used);
    return used.reverse();
  }

  #derived(): RegistryView {
    this.#view ??= toView(this.#used(), this.#parts.winners);
    return this.#view;
  }

  #explained(): readonly Explanation[] {
    this.#explanations ??= explainAll(this.#used(), this.#parts.winners);
    return this.#explanations;
  }

  get plugins(): Registry['plugins'] {
    return this.#derived().plugins;
  }

  get problems(): Registry['problems'] {
    return this.#derived().problems;
  }

  get tools(): Registry['tools'] {
    return this.#derived().tools;
  }

  get looseTools(): Registry['looseTools'] {
    return this.#derived().looseTools;
  }

  get policies(): Registry['policies'] {
    return this.#derived().policies;
  }

  get sections(): Registry['sections'] {
    return this.#derived().sections;
  }

  get slices(): Registry['slices'] {
    return this.#derived().slices;
  }

  get models(): Registry['models'] {
    return this.#derived().models;
  }

  get resources(): Registry['resources'] {
    return this.#derived().resources;
  }

  get commands(): Registry['commands'] {
    return this.#derived().commands;
  }

  get packs(): Registry['packs'] {
    return this.#derived().packs;
  }

  get packsInForce(): Registry['packsInForce'] {
    return this.#derived().packsInForce;
  }

  resolve(qualifiedName: string): Tool | undefined {
    return this.#derived().byQualifiedName.get(qualifiedName);
  }

  explain(name: string): readonly Explanation[] {
    this.#byName ??= indexByName(this.#explained());
    return Object.freeze([...(this.#byName.get(name) ?? [])]);
  }

  toJSON(): unknown {
    const { problems, plugins, packsInForce } = this.#derived();
    return {
      holdfast: holdfastVersion,
      plugins: plugins
        .map(({ name, version, description, holdfast, prefix, state, provenance }) => ({
          name,
          version,
          description,
          holdfast,
          ...(prefix === undefined ? {} : { prefix }),
          state,
          provenance,
        }))
        .toSorted((a, b) => compare(a.name, b.name)),
      packs: packsInForce
        .map(({ id, pack: { name, version, description }, preset, observe, provenance }) => ({
          id,
          name,
          version,
          description,
          preset,
          observe,
          provenance,
        }))
        .toSorted((a, b) => compare(a.id, b.id)),
      contributions: this.#explained(),
      problems: problems.toSorted((a, b) => compare(a.plugin, b.plugin) || compare(a.message, b.message)),
    };
  }
}

function take(given: Plugin | Pack, options: UsePluginOptions | UsePackOptions | undefined, winners: Winners): Used {
  // The overloads of `use` tie options to things, and both readers check theirs strictly.
  if (isOf(given, isPack)) return takePack(given, options as UsePackOptions | undefined);
  if (isOf(given, isPlugin)) return takePlugin(given, options as UsePluginOptions | undefined, winners);
  throw invalid('`use` requires a value made by `definePlugin` or `definePack`.');
}

function isOf<Kind>(given: unknown, isKind: (value: unknown) => value is Kind): given is Kind {
  try {
    return isKind(given);
  } catch (thrown) {
    throw invalid(`Cannot read the argument of \`use\`: ${describeThrown(thrown)}`, thrown);
  }
}

function indexByName(explanations: readonly Explanation[]): ReadonlyMap<string, readonly Explanation[]> {
  const byName = new Map<string, Explanation[]>();
  for (const explanation of explanations) {
    const { kind, name, qualifiedName } = explanation;
    const keys = [name, qualifiedName, qualifiedName.slice(qualifiedName.indexOf('/') + 1)];
    // The form used by decisions in a log.
    if (kind === 'policy') keys.push(`host/${name}`);
    for (const key of new Set(keys)) {
      const known = byName.get(key);
      if (known === undefined) byName.set(key, [explanation]);
      else known.push(explanation);
    }
  }
  return byName;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
