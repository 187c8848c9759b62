import { allow, ask, type Decision, definePolicy, deny } from '@holdfast/core';
import { createSession, memoryStore } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createGuard, type ReleasingGuard } from '../index.ts';
import { type ClaudeHookOutput, type GovernedQuery, governQuery } from './claude-agent-sdk.ts';

/** Denies 1, asks about 2 and 4, allows the rest. */
const byOrder = definePolicy({
  name: 'by-order',
  check({ input }): Decision {
    const { order } = input as { readonly order: number };
    return order === 1 ? deny('Closed.') : order % 2 === 0 ? ask('May it?') : allow;
  },
});

interface World {
  readonly guard: ReleasingGuard;
  /** How each call ended, and what it answered to its questions. */
  ends(): readonly string[];
}

function open(): World {
  const store = memoryStore();
  return {
    guard: createGuard({ session: createSession({ store }), policies: [byOrder] }),
    ends: () =>
      store.records
        .filter(({ type }) => type === 'tool-call-end')
        .map((record) => (record as unknown as { outcome: { kind: string } }).outcome.kind),
  };
}

const event = (name: string, order: number, more: object = {}): object => ({
  hook_event_name: name,
  session_id: 's-1',
  cwd: '/w',
  permission_mode: 'default',
  tool_name: 'Pay',
  tool_input: { order },
  tool_use_id: `t${order}`,
  ...more,
});

type Name = keyof GovernedQuery['hooks'];
const fire = (
  governed: GovernedQuery,
  name: Name,
  order: number,
  more?: object,
): Promise<ClaudeHookOutput> | undefined => governed.hooks[name][0]?.hooks[0]?.(event(name, order, more));
const decided = (permissionDecision: string, permissionDecisionReason: unknown): object => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
});
const says = (answer: object | null) => (_name: string, _input: Record<string, unknown>, _options: object) =>
  Promise.resolve(answer);

describe('hooks', () => {
  test('a call is denied, asked about or left to the rules of Claude Code, and its end is recorded', async () => {
    const { guard, ends } = open();
    const governed = governQuery(guard, { canUseTool: says({ behavior: 'allow' }) });
    expect(Object.values(governed.hooks).every(([matcher]) => matcher?.onFailure === 'block')).toBe(true);
    expect(await fire(governed, 'PreToolUse', 1)).toEqual(decided('deny', 'Denied: Closed.'));
    expect(await fire(governed, 'PreToolUse', 2)).toEqual(decided('ask', 'May it?'));
    expect(await fire(governed, 'PreToolUse', 3)).toEqual({});
    expect(await fire(governed, 'PostToolUse', 3, { tool_response: 'paid' })).toEqual({});
    expect(await fire(governed, 'PreToolUse', 5)).toEqual({});
    expect(await fire(governed, 'PostToolUseFailure', 5, { error: 'Broken.' })).toEqual({});
    expect(await fire(governed, 'PreToolUse', 7)).toEqual({});
    await fire(governed, 'SessionEnd', 7);
    expect(ends()).toEqual(['denied', 'ok', 'failed', 'in-doubt']);
  });

  test.each<[string, object, object]>([
    ['nobody is asked', {}, {}],
    ['Holdfast asks', { canUseTool: says(null), asks: 'holdfast' }, {}],
    ['the mode answers by itself', { canUseTool: says(null) }, { permission_mode: 'bypassPermissions' }],
  ])('an ask is a denial where %s', async (_, options, more) => {
    const governed = governQuery(open().guard, options as never);
    const waits = expect.stringContaining('A person has to approve this in Holdfast first');
    expect(await fire(governed, 'PreToolUse', 2, more)).toEqual(decided('deny', waits));
  });

  test('a call that cannot be read is denied', async () => {
    const governed = governQuery(open().guard);
    const reason = expect.stringContaining('Holdfast could not decide this call, so it is denied');
    expect(await fire(governed, 'PreToolUse', 3, { tool_input: 'all' })).toEqual(decided('deny', reason));
  });
});

describe('`canUseTool`', () => {
  async function answer(given: object | null, order = 2, id = `t${order}`) {
    const { guard, ends } = open();
    const governed = governQuery(guard, { canUseTool: says(given) });
    await fire(governed, 'PreToolUse', order);
    const permission = await governed.canUseTool('Pay', { order }, { toolUseID: id });
    const { behavior } = (permission ?? { behavior: 'none' }) as { readonly behavior: string };
    if (behavior === 'allow') await fire(governed, 'PostToolUse', order, { tool_response: 'paid' });
    return { permission, ends: ends() };
  }

  test('a yes lets the call run, and is recorded', async () => {
    expect(await answer({ behavior: 'allow' })).toEqual({ permission: { behavior: 'allow' }, ends: ['ok'] });
  });

  test.each([2, 3])('a no ends a call (%i), also one that only Claude Code asks about', async (order) => {
    const no = { behavior: 'deny', message: 'Not today.' };
    const { permission, ends } = await answer(no, order);
    expect({ permission, count: ends.length }).toEqual({ permission: no, count: 1 });
    expect(ends[0]).not.toBe('ok');
  });

  test('an input that the person changed is decided again', async () => {
    const changed = await answer({ behavior: 'allow', updatedInput: { order: 1 } });
    expect(changed.permission).toEqual({ behavior: 'deny', message: 'Denied: Closed.' });
    const same = { behavior: 'allow', updatedInput: { order: 2 } };
    expect((await answer(same)).permission).toBe(same);
    const asked = { behavior: 'allow', updatedInput: { order: 4 } };
    expect((await answer(asked)).permission).toBe(asked);
  });

  test('no answer stays no answer; a call that no hook has seen is denied', async () => {
    expect((await answer(null)).permission).toBeNull();
    expect((await answer({ behavior: 'allow' }, 2, 'other')).permission).toMatchObject({ behavior: 'deny' });
  });
});
