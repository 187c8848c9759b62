import { definePolicy, deny, type Policy, type Tool } from '@holdfast/core';
import type { EffectCheck } from '@holdfast/core/types';
import { type CallOptions, executeToolCall, recoverSession, resolveCall, resumeToolCall } from '@holdfast/executor';
import { replay, type Session } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type Home, makeHome, payTools, purse, purseOf, storeKinds, untilStarted } from './reserve-fixtures.ts';

const policies: readonly Policy[] = [purse];
const hanging = { id: 'c', name: 'pay', arguments: { amount: 5, manner: 'hang' } };
const no = definePolicy({ name: 'no', check: () => deny('No.') });

/** The session in which a call was under way when its process ended. */
async function killed(home: Home, call: typeof hanging, tools = payTools()): Promise<Session> {
  const session = await home.open();
  void executeToolCall(call, { tools, session, policies });
  await untilStarted(session, 1);
  return await home.open();
}

/** The session has exactly what the log says; also when read from its last snapshot. */
async function expectState(home: Home, session: Session, state: object): Promise<void> {
  expect(purseOf(session)).toEqual(state);
  expect(purseOf(replay([...session.records()]))).toEqual(state);
  expect(purseOf(await home.open())).toEqual(state);
}

describe.each(storeKinds)('in a log of the kind %s', (kind) => {
  const said: readonly {
    readonly what: string;
    readonly check?: EffectCheck;
    readonly by?: 'probe';
    readonly tools?: readonly Tool[];
    readonly policies?: readonly Policy[];
    readonly ends: string;
    readonly state: object;
  }[] = [
    { what: 'nothing', ends: 'in-doubt', state: { 's/c': 5 } },
    { what: 'done', check: { type: 'done' }, ends: 'ok', state: { spent: 5 } },
    { what: 'not done', check: { type: 'not-done' }, ends: 'cancelled', state: {} },
    { what: 'that it is done', check: { type: 'done' }, by: 'probe', ends: 'ok', state: { spent: 5 } },
    { what: 'that it is not done', check: { type: 'not-done' }, by: 'probe', ends: 'cancelled', state: {} },
    { what: 'that it does not know', check: { type: 'unknown' }, by: 'probe', ends: 'in-doubt', state: { 's/c': 5 } },
    { what: 'done, of a tool that is gone', check: { type: 'done' }, tools: [], ends: 'in-doubt', state: { 's/c': 5 } },
    { what: 'nothing, and no policy is there any more', policies: [], ends: 'in-doubt', state: { 's/c': 5 } },
    {
      what: 'done, and a policy refuses the success',
      check: { type: 'done' },
      policies: [
        purse,
        definePolicy({
          name: 'refusing',
          check: () => ({ type: 'allow' }),
          onResult() {
            throw new Error('Too late.');
          },
        }),
      ],
      ends: 'in-doubt',
      state: { 's/c': 5 },
    },
  ];
  test.each(said)('after a kill a person says $what: $ends', async ({ check, by, tools, ends, state, ...rest }) => {
    using home = makeHome(kind);
    const session = await killed(home, hanging);
    const probe = by === 'probe' && check !== undefined ? { probe: () => check } : {};
    const options: CallOptions = { tools: tools ?? payTools(probe), session, policies, ...rest };
    if (check !== undefined && by === undefined) await resolveCall(session, 'c', check as never);
    const { outcomes } = await recoverSession(options);
    expect(outcomes).toMatchObject([{ kind: ends }]);
    await expectState(home, session, state);
  });

  test('killed before it is settled, it is settled by the next one', async () => {
    using home = makeHome(kind);
    await killed(home, hanging);
    const session = await home.open();
    expect(session.openCall({ callId: 'c' })?.start?.reserved).toEqual([
      { callId: 'c', changes: [{ slice: 'policy:host/purse', op: 'upsert', key: 's/c', item: 5 }] },
    ]);
    await recoverSession({ tools: payTools(), session, policies });
    await expectState(home, session, { 's/c': 5 });
  });

  const second = [
    { what: 'succeeds', manner: 'ok', kind: 'ok', state: { spent: 5 } },
    { what: 'fails', manner: 'fail', kind: 'in-doubt', state: { 's/c': 5 } },
    { what: 'is in doubt', manner: 'doubt', kind: 'in-doubt', state: { 's/c': 5 } },
  ] as const;
  test.each(second)('run again with the same key it $what', async ({ manner, kind: ends, state }) => {
    using home = makeHome(kind);
    const session = await killed(home, hanging, payTools({ repeat: 'keyed' }));
    const again = payTools({ repeat: 'keyed' }).map(
      (tool) =>
        ({
          ...tool,
          execute: (_: unknown, context: never) => tool.execute?.({ amount: 5, manner } as never, context),
        }) as Tool,
    );
    expect(await resumeToolCall('c', { tools: again, session, policies })).toMatchObject({ kind: ends });
    await expectState(home, session, state);
  });

  test('run again and killed again it has one effect', async () => {
    using home = makeHome(kind);
    const tools = payTools({ repeat: 'keyed' });
    const session = await killed(home, hanging, tools);
    void resumeToolCall('c', { tools, session, policies });
    await untilStarted(session, 2);
    const third = await home.open();
    expect(await resumeToolCall('c', { tools, session: third, policies: [no] })).toMatchObject({ kind: 'in-doubt' });
    await expectState(home, third, { 's/c': 5 });
  });

  test.each([
    { what: 'ended well', inner: 'ok', state: { 's/c': 5, 's/c/1': 2 } },
    { what: 'failed', inner: 'fail', state: { 's/c': 5 } },
    { what: 'is in doubt', inner: 'doubt', state: { 's/c': 5, 's/c/1': 2 } },
    { what: 'was under way', inner: 'hang', state: { 's/c': 5, 's/c/1': 2 } },
  ])('what was nested in it and $what', async ({ inner, state }) => {
    for (const check of [undefined, { type: 'done' }, { type: 'not-done' }] as const) {
      using home = makeHome(kind);
      const input = { amount: 5, manner: 'hang', inner: { amount: 2, manner: inner } };
      const session = await killed(home, { ...hanging, name: 'buy', arguments: input });
      if (check !== undefined) await resolveCall(session, 'c', check);
      const { outcomes } = await recoverSession({ tools: payTools(), session, policies });
      expect(outcomes).toHaveLength(1);
      const { 's/c': _own, ...nested } = state as Record<string, number>;
      await expectState(
        home,
        session,
        check === undefined ? state : check.type === 'done' ? { spent: 5, ...nested } : {},
      );
    }
  });
});

test('an edited log costs nothing but what it reserved', async () => {
  using home = makeHome('memory');
  const session = await killed(home, hanging);
  for (const reserved of [
    [{ slice: 'policy:host/other', op: 'upsert', key: 'k', item: 1 }],
    [{ slice: 'policy:host/purse', op: 'append', items: [1] }],
    [{ op: 'upsert' }],
    [7],
  ]) {
    const edited = [...session.records()].map((record) =>
      record.type === 'tool-call-start' ? { ...record, reserved } : record,
    );
    for (const check of [undefined, { type: 'done' }] as const) {
      const found = replay(edited);
      if (check !== undefined) await resolveCall(found, 'c', check);
      const { outcomes } = await recoverSession({ tools: payTools(), session: found, policies });
      const [outcome] = outcomes;
      // Its own is dropped by a success.
      expect(outcome?.kind).toBe(check === undefined ? 'in-doubt' : 'ok');
      if (check === undefined) expect(outcome?.message).toContain('could not be recorded');
      expect(purseOf(found)).toEqual(check === undefined ? {} : { spent: 5 });
    }
  }
});
