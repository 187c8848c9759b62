import { ReadOnlyMap } from '@holdfast/core/internal';
import type { BoundPolicy, RenderedPrompt } from '@holdfast/core/types';
import { toBinding } from '../approval/policy-binding.ts';
import { observersOf, type PolicyBinding } from '../call/policies.ts';
import { compileTools } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';

/** A copy of the scope with the prompt's tools, and its policies after the host's. */
export function bindPage(scope: CallScope, renderedPrompt: RenderedPrompt): CallScope {
  const { tools, declarations, policies, allPolicies } = renderedPrompt;
  const { hostPolicies } = scope;
  // One binding per policy, however many tools it applies to.
  const known = new Map<BoundPolicy, PolicyBinding>();
  const bind = (bound: BoundPolicy): PolicyBinding => {
    const binding = known.get(bound) ?? toBinding(bound).forScope();
    known.set(bound, binding);
    return binding;
  };
  const byTool = new Map<string, readonly PolicyBinding[]>();
  const policiesOf = (name: string): readonly PolicyBinding[] => {
    let inForce = byTool.get(name);
    if (inForce === undefined) {
      const own = policies.get(name);
      inForce = own === undefined ? hostPolicies : [...hostPolicies, ...own.map(bind)];
      byTool.set(name, inForce);
    }
    return inForce;
  };
  const toolset = compileTools(tools);
  return {
    ...scope,
    renderedPrompt: lockPage(renderedPrompt),
    toolset:
      declarations === undefined || declarations.size === 0
        ? toolset
        : {
            ...toolset,
            declarations: Object.freeze(toolset.declarations.map((told) => declarations.get(told.name) ?? told)),
          },
    policiesOf,
    observers: observersOf([...hostPolicies, ...allPolicies.map(bind)]),
  };
}

/** The page as tools see it, read-only so that later runs are not affected. */
function lockPage(page: RenderedPrompt): RenderedPrompt {
  const { tools, policies, allPolicies, declarations } = page;
  // Pages of `createPrompt` already are.
  if (Object.isFrozen(page) && policies instanceof ReadOnlyMap) return page;
  const lock = (list: readonly BoundPolicy[]): readonly BoundPolicy[] =>
    Object.freeze(list.map(({ key, policy }) => Object.freeze({ key, policy })));
  return Object.freeze({
    ...page,
    tools: Object.freeze([...tools]),
    policies: new ReadOnlyMap([...policies].map(([name, list]) => [name, lock(list)])),
    allPolicies: lock(allPolicies),
    ...(declarations === undefined ? {} : { declarations: new ReadOnlyMap(declarations) }),
  });
}
