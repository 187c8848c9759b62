import type { Json, Policy, PreparedCall } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import { describeAnswer, hearAnswer, type PolicyAnswer } from './answer.ts';

/**
 * How a policy is watched. `plainly`: as a host asks it. `twice`: every question is put again, and has to get the same answer.
 * `thawed`: what it is handed is not frozen, and has to stay as it is.
 */
export type Watching = 'plainly' | 'twice' | 'thawed';

export interface WatchedPolicy {
  /** The policy, for a host. */
  readonly policy: Policy;
  /** What it said last. */
  readonly last: () => PolicyAnswer | undefined;
  readonly forget: () => void;
  /** What was found wrong with it. */
  readonly problems: readonly string[];
}

export function watchPolicy(policy: Policy, watching: Watching): WatchedPolicy {
  const problems: string[] = [];
  const thawed = new WeakMap<PreparedCall, PreparedCall>();
  let last: PolicyAnswer | undefined;

  // The same one for every question about a call: a policy may remember the call while it lasts.
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
    // Made of JSON; an interface does not say so to the compiler.
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

// One at a time: who puts functions back has to be who replaced them last.
let others: Promise<unknown> = Promise.resolve();

/** Timers that were set while something ran, by the global functions, and neither fired nor were cancelled. They are cancelled. */
export function countLeftTimers(run: () => Promise<void>): Promise<number> {
  const counting = others.then(() => watch(run));
  others = counting.catch(() => undefined);
  return counting;
}

async function watch(run: () => Promise<void>): Promise<number> {
  const own = globalThis as unknown as TimerFunctions; // The functions of every platform, without what each adds to them.
  const { setTimeout, setInterval, clearTimeout, clearInterval } = own;
  const open = new Map<number, () => void>();
  // What a platform answers is a number, or an object that becomes one.
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
