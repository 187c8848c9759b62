import type { FactsSource } from '@holdfast/core';
import { accountOf } from './call/execute.ts';
import type { CallOptions, CallScope } from './call/scope.ts';
// Excluded from the configuration's alias.
import { openScope as openPlainScope } from './direct/features.ts?plain';
import { openFacts } from './facts/scope-facts.ts';
import { createBudget } from './run/budget.ts';

const none: readonly never[] = Object.freeze([]);
const unread: FactsSource = {
  view: { folder: '/', workspace: '/' },
  describe: () => ({
    runs: none,
    reads: none,
    writes: none,
    deletes: none,
    hosts: none,
    untrusted: false,
    unclear: none,
  }),
};

/** Like the executor's, with every optional feature in use: facts, overrides, an unlimited budget, a listener. */
export function openScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  const scope = openPlainScope(options, toolNames);
  const facts = scope.facts ?? openFacts(unread, scope.rootSession);
  const unlimited = accountOf(createBudget({}));
  return {
    ...scope,
    facts,
    surroundings: { ...scope.surroundings, place: facts.place },
    manner: scope.manner ?? { delaysMs: undefined },
    budgets: unlimited === undefined ? scope.budgets : [...scope.budgets, unlimited],
    emit: scope.emit ?? (() => undefined),
  };
}
