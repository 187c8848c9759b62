import type { CallFacts, Describer, FactsSource, PlaceView, Tool } from '@holdfast/core';
import { checkOptions, describeThrown, isPlainObject } from '@holdfast/core/internal';
import { joinFacts, unclearFacts } from './union.ts';

export interface FactsOptions {
  /** What they say of one call is added up. A call that none of them knows is unclear. */
  readonly describers: readonly Describer[];
  readonly view: PlaceView;
  /** Tools whose own `facts` are believed; those of any other tool are added, and leave the call unclear. Default: none. */
  readonly trusts?: (tool: Tool) => boolean;
}

/**
 * Makes what a runner takes as `facts`. A describer that fails leaves its part of a call unclear.
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
        if (!trusts(tool)) found.push(unclear(`\`${name}\` says itself what it does, and is not trusted`, 'tool'));
      }
      return found.length === 0 ? unclear(`\`${name}\` is not known here`, 'tool') : joinFacts(found);
    },
  } satisfies FactsSource);
}

const rules = { describers: 'list!', view: 'object!', trusts: 'function!' } as const;

function attempt(name: string, describe: () => unknown): CallFacts | undefined {
  try {
    const made = describe();
    if (made === undefined || isFacts(made)) return made;
    // Of an asynchronous one: its rejection, which nobody will hear, must not end the process.
    void Promise.allSettled([Promise.resolve(made)]);
    return unclear(`what \`${name}\` says of the call are no facts`);
  } catch (thrown) {
    return unclear(`\`${name}\` cannot say what the call would do: ${describeThrown(thrown)}`);
  }
}

function unclear(reason: string, kind: 'tool' | 'program' = 'program'): CallFacts {
  return unclearFacts({ kind, reason });
}

/** What other code made may be anything. */
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
