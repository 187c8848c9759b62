import type { BoundPolicy, Guide, Problem, Prompt, RenderedPrompt, SessionReader, Slice } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { observersOf, type PolicyBinding, toBinding } from '../call/authorize.ts';
import { compileTools } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';

/** A rendered prompt that knows what it was made of. */
export interface Page {
  readonly rendered: RenderedPrompt;
  /** Whether any state that rendering read has changed since. */
  isStale(): boolean;
}

/** Renders, and notes which slices were read: a prompt that reads none is never rendered again. */
export function renderTracked(prompt: Prompt, session: Session): Page {
  const seen = new Map<Slice, unknown>();
  const reader: SessionReader = {
    read<State>(slice: Slice<State>): State {
      const state = session.read(slice);
      // Only its identity is used from here on.
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

/** What a page declares and came without the code of; `undefined` for a sound page. */
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
  const message = `The prompt has \`${declared}\` without \`guide\`, the code for it: make the prompt by \`createPrompt\`.`;
  return { code: 'feature.missing', message, data: { feature: declared } };
}

const guideMethods = ['giveFeedback', 'countLast', 'judgeAnswer'] as const satisfies readonly (keyof Guide)[];

/** The same scope with a prompt's tools, and with its policies in force after the host's. */
export function bindPrompt(scope: CallScope, renderedPrompt: RenderedPrompt): CallScope {
  const { tools, declarations, policies, allPolicies } = renderedPrompt;
  const { hostPolicies } = scope;
  // One for each policy, however many tools it is in force for.
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

/** The page as tools get it: what one does to it changes nothing that the prompt gives to later runs. */
function lockPage(page: RenderedPrompt): RenderedPrompt {
  const { tools, policies, allPolicies, declarations } = page;
  // Those of `createPrompt` are.
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
