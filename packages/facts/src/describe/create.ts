import type { CallFacts, Describer, FactsSource, PlaceView, Tool } from '@holdfast/core';
import { checkOptions, describeThrown, isPlainObject } from '@holdfast/core/internal';
import { joinFacts, unclearFacts } from './union.ts';

export interface FactsOptions {
  /** Their facts of a call are joined. A call that none of them knows is unclear. */
  readonly describers: readonly Describer[];
  readonly view: PlaceView;
  /** Tools whose own `facts` are trusted. Those of other tools are added, but leave the call unclear. Default: none. */
  readonly trusts?: (tool: Tool) => boolean;
}

/**
 * Creates the `facts` option of a runner. A describer that fails leaves its part of a call unclear.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function createFacts({ describers, view, trusts = () => false, ...others }: FactsOptions): FactsSource {
  checkOptions('createFacts', { describers, view, trusts, ...others }, rules);
  const listed = [...describers];
  return Object.freeze({
    view,
    describe({ tool, input }, seen) {
      const { name } = tool;
      const found = listed.flatMap((describer) => {
        const made = attempt(describer.name, () => describer.describe({ tool: name, input }, seen));
        return made ?? [];
      });
      const own = tool.facts === undefined ? undefined : attempt(name, () => tool.facts?.(input, seen));
      if (own !== undefined) {
        found.push(own);
        if (!trusts(tool)) found.push(unclear(`\`${name}\` declares its own facts, but is not trusted`, 'tool'));
      }
      return found.length === 0 ? unclear(`unknown tool \`${name}\``, 'tool') : joinFacts(found);
    },
  } satisfies FactsSource);
}

const rules = { describers: 'list!', view: 'object!', trusts: 'function!' } as const;

function attempt(name: string, describe: () => unknown): CallFacts | undefined {
  try {
    const made = describe();
    if (made === undefined || isFacts(made)) return made;
    // An asynchronous describer: its unhandled rejection must not end the process.
    void Promise.allSettled([Promise.resolve(made)]);
    return unclear(`\`${name}\` did not return valid facts`);
  } catch (thrown) {
    return unclear(`\`${name}\` could not describe the call: ${describeThrown(thrown)}`);
  }
}

function unclear(reason: string, kind: 'tool' | 'program' = 'program'): CallFacts {
  return unclearFacts({ kind, reason });
}

/** Untrusted: other code returned it. */
function isFacts(made: unknown): made is CallFacts {
  if (!isPlainObject(made) || typeof made['untrusted'] !== 'boolean') return false;
  const { runs, reads, writes, deletes, hosts, unclear: open } = made;
  return (
    [reads, writes, deletes].every((places) => isListOf(places, ({ path }) => typeof path === 'string')) &&
    isListOf(hosts, ({ host }) => typeof host === 'string') &&
    isListOf(open, ({ kind, reason }) => typeof kind === 'string' && typeof reason === 'string') &&
    isListOf(runs, ({ program, arguments: words, environment, after }) => {
      return typeof program === 'string' && [words, environment, after].every(Array.isArray);
    })
  );
}

function isListOf(items: unknown, isItem: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(items) && items.every((item) => isPlainObject(item) && isItem(item));
}
