import {
  allow,
  ask,
  type Decision,
  definePolicy,
  deny,
  HoldfastError,
  type Json,
  type KeyedState,
  type Operation,
  type Policy,
  type PolicyContext,
  type PreparedCall,
} from '@holdfast/core';
import type { ReserveContext } from '@holdfast/core/types';
import { noted } from './observe.ts';
import { readPartState, toReservedOperations, toWholeOperations } from './part-state.ts';

/**
 * Combines policies: all must allow; any deny denies, else any ask asks. Reports every reason.
 *
 * State, id and errors as in `some`.
 */
export function every(...policies: readonly Policy[]): Policy {
  return combine('every', policies, (decisions) => settle(decisions, ['deny', 'ask']));
}

/**
 * Combines policies: one that allows is enough; else any ask asks; if all deny it denies. Reports every reason. A part that throws or
 * returns no decision still denies.
 *
 * State: keyed, the states of the parts; none if no part has any. Every part sees every success. Schemas of the parts' states are not
 * applied. The id is built from the parts' ids, so that a combination of other parts never reads this state; two combinations of the same
 * policies in one place need parts with other ids.
 *
 * @throws HoldfastError `options.invalid` without parts, `policy.invalid` if two parts have the same id. The combined policy throws
 * `policy.invalid` if a part returns no decision, and `slice.invalid` if the result of a part's `onResult` does not
 * fit its state.
 */
export function some(...policies: readonly Policy[]): Policy {
  return combine('some', policies, (decisions) =>
    decisions.some(({ type }) => type === 'allow') ? allow : settle(decisions, ['ask', 'deny']),
  );
}

function combine(
  name: 'every' | 'some',
  parts: readonly Policy[],
  decide: (decisions: readonly Decision[]) => Decision,
): Policy {
  checkParts(name, parts);
  const shared = {
    name,
    id: [name, ...parts.map(({ id }) => id)].join('-').slice(0, 64),
    mentions: [...new Set(parts.flatMap(({ mentions }) => mentions))],
    timed: parts.some(({ timed }) => timed === true),
    // Their reservations are one: that of a part which drops its own then counts as well.
    countsFailures: parts.some(({ countsFailures }) => countsFailures === true),
  };
  const check = async (
    call: PreparedCall,
    context: PolicyContext,
    stateOf: (part: Policy) => unknown,
  ): Promise<Decision> => {
    const decisions: Decision[] = [];
    for (const part of parts) {
      decisions.push(checkDecision(part, await part.check(call, forPart(context, stateOf(part)))));
    }
    return decideObserving(decisions, decide);
  };
  if (
    parts.every(
      ({ state, onResult, reserve }) => state === undefined && onResult === undefined && reserve === undefined,
    )
  ) {
    return definePolicy({ ...shared, check: (call, context) => check(call, context, () => undefined) });
  }
  return definePolicy<Json>({
    ...shared,
    stateKind: 'keyed',
    check: (call, context) => check(call, context, (part) => readPartState(part, context.state)),
    onResult(call, result, context) {
      return parts.flatMap((part) => {
        const update = part.onResult?.(call, result, forPart(context, readPartState(part, context.state)));
        return toWholeOperations(part, update, context.state);
      });
    },
    ...(parts.some(({ reserve }) => reserve !== undefined)
      ? { reserve: (call, context) => reserveAll(parts, call, context) }
      : {}),
  });
}

function reserveAll(
  parts: readonly Policy[],
  call: PreparedCall,
  context: ReserveContext<KeyedState<Json>>,
): readonly Operation[] {
  const { callKey } = context;
  const mayEndInDoubt = call.tool.effects === 'external' && call.tool.repeat !== 'safe';
  return parts.flatMap((part) => {
    if (!mayEndInDoubt && part.countsFailures !== true) return [];
    const state = readPartState(part, context.state);
    const update = part.reserve?.(
      call,
      Object.freeze({ ...forPart(context, state), request: context.request, callKey }),
    );
    return toReservedOperations(part, update, context.state);
  });
}

function checkParts(name: string, parts: readonly Policy[]): void {
  if (parts.length === 0) throw new HoldfastError('options.invalid', `\`${name}\` needs at least one policy.`);
  const ids = new Set<string>();
  for (const { id } of parts) {
    if (ids.has(id)) {
      throw new HoldfastError(
        'policy.invalid',
        `Two parts of \`${name}\` have the id \`${id}\`, which is the key of their state. Give one of them another \`id\`.`,
        { data: { reason: 'key.duplicate', id } },
      );
    }
    ids.add(id);
  }
}

function forPart(context: PolicyContext, state: unknown): PolicyContext {
  return new PartContext(context, state);
}

/** The combination's context with the state of a part. */
class PartContext implements PolicyContext {
  readonly state: unknown;
  readonly session: PolicyContext['session'];
  readonly filesystem: PolicyContext['filesystem'];
  readonly deadline: PolicyContext['deadline'];
  readonly place: PolicyContext['place'];
  readonly #context: PolicyContext;

  constructor(context: PolicyContext, state: unknown) {
    this.state = state;
    this.session = context.session;
    this.filesystem = context.filesystem;
    this.deadline = context.deadline;
    this.place = context.place;
    this.#context = context;
    Object.freeze(this);
  }

  // A getter, because reading the request makes the decision depend on it.
  get request(): PolicyContext['request'] {
    return this.#context.request;
  }
}

/** The result of `decide`, and for observed parts the result if they were in force. */
function decideObserving(
  decisions: readonly Decision[],
  decide: (decisions: readonly Decision[]) => Decision,
): Decision {
  const decision = decide(decisions);
  if (decision.type !== 'allow') return decision;
  const inForce = decide(decisions.map((each) => (each.type === 'allow' ? (each.observed ?? each) : each)));
  return inForce.type === 'allow' ? allow : noted(inForce);
}

function checkDecision(part: Policy, decision: Decision | undefined): Decision {
  if (decision?.type === 'allow') return decision;
  if (decision?.type === 'ask') return ask(decision.reason, decision);
  if (decision?.type === 'deny') return deny(decision.reason, decision);
  throw new HoldfastError('policy.invalid', `The policy \`${part.id}\` answered neither allow, ask nor deny.`, {
    data: { reason: 'decision.invalid' },
  });
}

/** The first type of `order` among the decisions, with all reasons; else allow. Grantable only if every ask is. */
function settle(decisions: readonly Decision[], order: readonly ('ask' | 'deny')[]): Decision {
  const reasons = decisions.flatMap((decision) => (decision.type === 'allow' ? [] : [decision.reason])).join('\n');
  const type = order.find((candidate) => decisions.some((decision) => decision.type === candidate));
  if (type === undefined) return allow;
  if (type === 'deny') {
    const code = decisions.flatMap((decision) => (decision.type === 'deny' ? (decision.code ?? []) : [])).at(0);
    return deny(reasons, code === undefined ? {} : { code });
  }
  return ask(reasons, {
    grantable: decisions.every((decision) => decision.type !== 'ask' || decision.grantable !== false),
  });
}
