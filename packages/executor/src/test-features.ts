import { accountOf } from './call/execute.ts';
import type { CallOptions, CallScope } from './call/scope.ts';
// The module that the configuration leaves alone.
import { openScope as openPlainScope } from './direct/features.ts?plain';
import { createBudget } from './run/budget.ts';

/** As the executor opens it, with what a call may be given in use: a manner, a budget that is never used up, a listener. */
export function openScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  const scope = openPlainScope(options, toolNames);
  const unlimited = accountOf(createBudget({}));
  return {
    ...scope,
    manner: scope.manner ?? { delaysMs: undefined },
    budgets: unlimited === undefined ? scope.budgets : [...scope.budgets, unlimited],
    emit: scope.emit ?? (() => undefined),
  };
}
