import type { Json, Policy, PreparedCall } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import { describeAnswer, hearAnswer, type PolicyAnswer } from './answer.ts';

/**
 * How a policy is watched. `plainly`: as a host calls it. `twice`: every check runs twice and must give the same decision. `thawed`: its input
 * is not frozen, and must stay unchanged.
 */
export type Watching = 'plainly' | 'twice' | 'thawed';

export interface WatchedPolicy {
  /** The policy for a host. */
  readonly policy: Policy;
  /** Its last decision. */
  readonly last: () => PolicyAnswer | undefined;
  readonly forget: () => void;
  /** Detected faults. */
  readonly problems: readonly string[];
}

export function watchPolicy(policy: Policy, watching: Watching): WatchedPolicy {
  const problems: string[] = [];
  const thawed = new WeakMap<PreparedCall, PreparedCall>();
  let last: PolicyAnswer | undefined;

  // The same object for every check of a call: a policy may remember the call during its lifetime.
  function thaw(call: PreparedCall): PreparedCall {
    if (watching !== 'thawed') return call;
    const { id, tool, input, facts } = call;
    const known = thawed.get(call) ?? {
      ...{ id, tool, input: structuredClone(input) },
      ...(facts === undefined ? {} : { facts: structuredClone(facts) }),
    };
    thawed.set(call, known);
    return known;
  }
  function compare(what: string, found: Json, given: Json): void {
    if (toCanonicalJson(found) !== toCanonicalJson(given)) problems.push(`it changed ${what}`);
  }

  function compareCalls(found: PreparedCall, given: PreparedCall): void {
    compare(`the arguments of \`${given.tool.name}\``, found.input, given.input);
    if (watching !== 'thawed' || given.facts === undefined) return;
    // JSON; the compiler does not know that of an interface.
    const [after, before] = [found.facts, given.facts] as unknown as readonly [Json, Json];
    compare(`the facts of \`${given.tool.name}\``, after, before);
  }

  const { onResult } = policy;
  const watched: Policy = {
    ...policy,
    async check(call, context) {
      const given = thaw(call);
      const answer = await hearAnswer(() => policy.check(given, context));
      compareCalls(given, call);
      if (watching === 'twice') {
        const again = await hearAnswer(() => policy.check(given, context));
        if (describeAnswer(again) !== describeAnswer(answer)) {
          problems.push(`asked once it said ${describeAnswer(answer)}, asked again ${describeAnswer(again)}`);
        }
      }
      last = answer;
      if (answer.type === 'fault') throw new Error(answer.what);
      return answer.decision;
    },
    ...(onResult === undefined
      ? {}
      : {
          onResult(call, result, context) {
            const given = thaw(call);
            const value = watching === 'thawed' ? structuredClone(result.value) : result.value;
            const update = onResult.call(policy, given, { ...result, value }, context);
            compareCalls(given, call);
            compare(`the result of \`${call.tool.name}\``, value, result.value);
            return update;
          },
        }),
  };
  return {
    policy: Object.freeze(watched),
    last: () => last,
    forget() {
      last = undefined;
    },
    problems,
  };
}

// One at a time: functions must be restored in reverse order of replacement.
let others: Promise<unknown> = Promise.resolve();

/** Counts timers set by the global functions during `run` that neither fired nor were cancelled, and cancels them. */
export function countLeftTimers(run: () => Promise<void>): Promise<number> {
  const counting = others.then(() => watch(run));
  others = counting.catch(() => undefined);
  return counting;
}

async function watch(run: () => Promise<void>): Promise<number> {
  const own = globalThis as unknown as TimerFunctions; // The functions common to all platforms.
  const { setTimeout, setInterval, clearTimeout, clearInterval } = own;
  const open = new Map<number, () => void>();
  // Platforms return a number, or an object that converts to one.
  own.setTimeout = (callback, ...rest) => {
    const handle = setTimeout(
      (...values) => {
        open.delete(Number(handle));
        callback(...values);
      },
      ...rest,
    );
    open.set(Number(handle), () => clearTimeout(handle));
    return handle;
  };
  own.setInterval = (callback, ...rest) => {
    const handle = setInterval(callback, ...rest);
    open.set(Number(handle), () => clearInterval(handle));
    return handle;
  };
  const clear = (stop: (handle: unknown) => void) => (handle: unknown) => {
    open.delete(Number(handle));
    stop(handle);
  };
  own.clearTimeout = clear(clearTimeout);
  own.clearInterval = clear(clearInterval);
  try {
    await run();
    return open.size;
  } finally {
    Object.assign(own, { setTimeout, setInterval, clearTimeout, clearInterval });
    for (const stop of open.values()) stop();
  }
}

type Set = (callback: (...values: readonly unknown[]) => void, ...rest: readonly unknown[]) => unknown;

interface TimerFunctions {
  setTimeout: Set;
  setInterval: Set;
  clearTimeout: (handle: unknown) => void;
  clearInterval: (handle: unknown) => void;
}
