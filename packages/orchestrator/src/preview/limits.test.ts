import {
  allow,
  type Clock,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type Json,
  type Policy,
  type PolicyContext,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type ForeseeOptions, foreseeCalls } from './foresee.ts';
import { notes, testSession } from './test-session.ts';
import type { ExpectedCall } from './watch.ts';

const plain = (name: string, dangerous = false): Tool =>
  defineTool({ name, description: `Does ${name}.`, effects: 'none', dangerous, execute: () => null });
const build = plain('build');
const check = plain('check');
const wipe = plain('wipe', true);
const tools = [build, check, wipe];
const known = (tool: Tool, ...after: readonly number[]): ExpectedCall => ({ tool, input: {}, after });
const no = deny('No.');

async function foretell(
  calls: readonly ExpectedCall[],
  policies: readonly Policy[],
  options: Partial<ForeseeOptions> = {},
): Promise<readonly string[]> {
  const foreseen = await foreseeCalls(calls, { tools, policies, resources: {}, ...options });
  return foreseen.map(({ denials, asks }) => (denials.length > 0 ? 'denied' : asks.length > 0 ? 'asks' : '-'));
}

interface Stateful {
  readonly check: (call: PreparedCall, state: number) => Decision;
  readonly onResult: (call: PreparedCall, state: number, context: PolicyContext<number>) => number;
}

const stateful = ({ check: answer, onResult }: Stateful): Policy =>
  definePolicy<number>({
    name: 'p',
    initialState: 0,
    check: (call, { state }) => answer(call, state),
    onResult: (call, _result, context) => onResult(call, context.state, context),
  }) as Policy;

describe('a synchronous policy has no more time than an asynchronous one', () => {
  function slowClock(): { readonly clock: Clock; readonly spend: () => void } {
    let now = 0;
    return {
      clock: { now: () => now, after: () => () => undefined },
      spend: () => {
        now += 30;
      },
    };
  }

  test('for its answers', async () => {
    const { clock, spend } = slowClock();
    const slow = definePolicy({
      name: 'slow',
      check: () => {
        spend();
        return no;
      },
    });
    const calls = [known(build), known(build), known(build), known(build)];
    const options = { clock, policyTimeoutMs: 50 };
    expect(await foretell(calls, [slow], options)).toEqual(['denied', 'denied', '-', '-']);
    // Other policies have their own time.
    const quick = definePolicy({ name: 'quick', check: () => no });
    expect(await foretell(calls, [slow, quick], options)).toEqual(Array(4).fill('denied'));
  });

  test('for its state changes, which are then unknown', async () => {
    const { clock, spend } = slowClock();
    let told = 0;
    const slow = stateful({
      check: ({ tool }) => (tool === build ? no : allow),
      onResult: (_call, state) => {
        told += 1;
        spend();
        return state + 1;
      },
    });
    const calls = [...Array.from({ length: 50 }, () => known(check)), known(build)];
    expect((await foretell(calls, [slow])).at(-1)).toBe('denied');
    told = 0;
    expect((await foretell(calls, [slow], { clock, policyTimeoutMs: 100 })).at(-1)).toBe('-');
    expect(told).toBe(4);
  });

  test('a state change that is unknown for lack of time does not count as none', async () => {
    const { clock, spend } = slowClock();
    const lifted = stateful({
      check: ({ tool }, state) => (tool === build && state === 0 ? no : allow),
      onResult: ({ tool }, state) => {
        spend();
        return tool === check ? 1 : state;
      },
    });
    for (const policyTimeoutMs of [30, 60, 90, 120, 150, 1_000]) {
      expect(await foretell([known(build), known(check)], [lifted], { clock, policyTimeoutMs })).toEqual(['-', '-']);
    }
  });

  test('a large state costs only its size', async () => {
    const many = Array.from({ length: 300 }, (_, index) => plain(`tool_${index}`));
    const large = Array.from({ length: 20_000 }, (_, index) => index);
    let told = 0;
    const policy = definePolicy<{ readonly large: readonly number[]; readonly count: number }>({
      name: 'large',
      initialState: { large, count: 0 },
      check: () => no,
      onResult: (_call, _result, { state }) => {
        told += 1;
        return { ...state, count: (state.count + 1) % 200 };
      },
    }) as Policy;
    let now = 0;
    // Each reading of the clock advances it by a millisecond.
    const clock: Clock = { now: () => (now += 1), after: () => () => undefined };
    await foreseeCalls(
      many.map((tool) => known(tool)),
      { tools: many, policies: [policy], clock, policyTimeoutMs: 1_000 },
    );
    // Of 1,000 ms, 300 went to the answers, 300 to successes, and 300 to the second answers; comparing states takes time as well.
    expect(told).toBe(350);
  });
});

test('leaves no timer, and inputs cannot be changed', async () => {
  let timers = 0;
  const clock: Clock = {
    now: () => 0,
    after: () => {
      timers += 1;
      return () => {
        timers -= 1;
      };
    },
  };
  const later = definePolicy({ name: 'later', check: () => Promise.resolve(no) });
  expect(await foretell([known(build)], [later], { clock })).toEqual(['denied']);
  expect(timers).toBe(0);

  const changing = definePolicy({
    name: 'changing',
    check: ({ input }) => {
      Reflect.set(input as object, 'added', 1);
      return allow;
    },
  });
  const reading = definePolicy({
    name: 'reading',
    check: ({ input }) => (Object.hasOwn(input as object, 'added') ? no : allow),
  });
  const calls = [{ tool: build, input: { list: [] }, after: [] }];
  expect(await foretell(calls, [changing, reading])).toEqual(['-']);
});

describe('remembered answers', () => {
  test('in one state, one call of a tool is denied and another is not', async () => {
    const limit = stateful({
      check: ({ tool, input }, state) => (tool === build && (input as { euros: number }).euros > state ? no : allow),
      onResult: ({ tool }, state) => (tool === check ? 10 : state),
    });
    const pay = (euros: Json): ExpectedCall => ({ tool: build, input: { euros }, after: [] });
    expect(await foretell([pay(100), pay(5), known(check)], [limit])).toEqual(['denied', '-', '-']);
  });

  test('calls of one tool have the same effect in one state, but not in another', async () => {
    const policy = stateful({
      check: ({ tool }, state) => (tool === wipe && state !== 5 ? no : allow),
      // The input is read in only one state.
      onResult: (call, state) => {
        if (call.tool === check) return 1;
        if (state !== 1) return state;
        return (call.input as { euros: number }).euros > 10 ? 5 : 1;
      },
    });
    const pay = (euros: Json): ExpectedCall => ({ tool: build, input: { euros }, after: [] });
    const calls = [pay(5), pay(100), known(wipe), known(check)];
    expect((await foretell(calls, [policy], { grants: ['wipe'] }))[2]).toBe('-');
  });

  test.each<[what: string, look: (context: PolicyContext<number>) => unknown]>([
    ['the session', ({ session }) => session.read(notes)],
    ['the remaining time', ({ deadline }) => deadline.remainingMs()],
  ])('the effect of a success that depends on %s is unknown', async (_, look) => {
    const looking = (looks: boolean): Policy =>
      stateful({
        check: ({ tool }) => (tool === build ? no : allow),
        onResult: (_call, state, context) => {
          if (looks) look(context);
          return state + 1;
        },
      });
    const calls = [known(check), known(build, 0)];
    expect(await foretell(calls, [looking(false)])).toEqual(['-', 'denied']);
    expect(await foretell(calls, [looking(true)])).toEqual(['-', '-']);
  });

  test('a call denied because the policy throws may still succeed, so its effect is unknown', async () => {
    const failing = (fails: boolean): Policy =>
      stateful({
        check: ({ tool }) => {
          if (tool === check && fails) throw new Error('at a loss');
          return no;
        },
        onResult: () => {
          throw new Error('at a loss, too');
        },
      });
    const calls = [known(check), known(build, 0)];
    expect(await foretell(calls, [failing(false)])).toEqual(['denied', 'denied']);
    expect(await foretell(calls, [failing(true)])).toEqual(['-', '-']);
  });
});

test('a grant by a person for the session also holds for its child sessions', async () => {
  const { session } = testSession();
  await executeToolCall(
    { name: 'wipe', arguments: {} },
    { tools, policies: [], session, approve: () => ({ type: 'approve', grant: true }) },
  );
  const foretold: Promise<readonly string[]>[] = [];
  const around = defineTool({
    name: 'around',
    description: 'Looks ahead.',
    effects: 'none',
    execute: async (_input, context) => {
      foretold.push(foretell([known(wipe)], [], { session: context.child() }));
      await foretold[0];
      return null;
    },
  });
  await executeToolCall({ name: 'around', arguments: {} }, { tools: [around], session });
  expect(await Promise.all(foretold)).toEqual([['-']]);
  expect(await foretell([known(wipe)], [], { session: createSession() })).toEqual(['asks']);
});
