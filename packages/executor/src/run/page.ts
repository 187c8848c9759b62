import type { Prompt, SessionReader, Slice } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { BoundPolicy, Guide, Problem, RenderedPrompt } from '@holdfast/core/types';
import type { Session } from '@holdfast/session';
import { observersOf, type PolicyBinding, toBinding } from '../call/authorize.ts';
import { compileTools } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';

/** A rendered prompt that tracks the state it was rendered from. */
export interface Page {
  readonly rendered: RenderedPrompt;
  /** True if any slice read during rendering has changed since. */
  isStale(): boolean;
}

/** Renders and tracks the slices read: a prompt that reads none is never rendered again. */
export function renderTracked(prompt: Prompt, session: Session): Page {
  const seen = new Map<Slice, unknown>();
  const reader: SessionReader = {
    read<State>(slice: Slice<State>): State {
      const state = session.read(slice);
      // Only its identity is used.
      seen.set(slice as Slice, state);
      return state;
    },
  };
  const rendered = prompt.render({ session: reader });
  return {
    rendered,
    isStale() {
      for (const [slice, state] of seen) if (session.read(slice) !== state) return true;
      return false;
    },
  };
}

/** The problem of a page that declares something but was loaded without its code; `undefined` for a complete page. */
export function findMissing({ guide, output, completion, feedback = [] }: RenderedPrompt): Problem | undefined {
  const declared =
    output !== undefined
      ? 'output'
      : completion !== undefined
        ? 'completion'
        : feedback.length > 0
          ? 'feedback'
          : undefined;
  if (declared === undefined || guideMethods.every((name) => typeof guide?.[name] === 'function')) return undefined;
  const message = `The prompt has \`${declared}\` without \`guide\`, the code for it: create the prompt with \`createPrompt\`.`;
  return { code: 'feature.missing', message, data: { feature: declared } };
}

const guideMethods = ['giveFeedback', 'countLast', 'judgeAnswer'] as const satisfies readonly (keyof Guide)[];

/** A copy of the scope with the prompt's tools, and its policies after the host's. */
export function bindPrompt(scope: CallScope, renderedPrompt: RenderedPrompt): CallScope {
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
