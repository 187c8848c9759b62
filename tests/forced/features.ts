import type { CallOptions, CallScope } from '../../packages/executor/src/call/scope.ts';
import type { CallFeatures } from '../../packages/executor/src/call/types.ts';
// The path is the one that the configuration leaves alone.
import { openScope as openPlainScope } from '../../packages/executor/src/direct/features.ts?plain';
import { resuming } from '../../packages/executor/src/recovery/resuming.ts';
import { accountOf } from '../../packages/executor/src/call/execute.ts';
import { createBudget } from '../../packages/executor/src/run/budget.ts';

/** As the executor opens it, with everything in use that a call may need: each feature does its work and has nothing to do. */
export function openScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  const scope = openPlainScope(options, toolNames);
  const unlimited = accountOf(createBudget({}));
  return {
    ...scope,
    features: inUse(scope.features),
    manner: scope.manner ?? { delaysMs: undefined },
    resuming,
    budgets: unlimited === undefined ? scope.budgets : [...scope.budgets, unlimited],
    emit: scope.emit ?? (() => undefined),
  };
}

function inUse(features: CallFeatures): CallFeatures {
  return {
    ...features,
    permit(first, call) {
      // What is opened when a tool first asks for it is open from the start.
      void call.transaction;
      void call.signal;
      void call.lifetime;
      void call.nested;
      void call.key;
      void (call.openResources() as { readonly declared?: unknown }).declared;
      return features.permit(first, call);
    },
  };
}
