import { defineTool, type ResourceTransaction, type StagedResource, type Tool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { describeEnd, notes, outcomeOf, testSession, writer } from '../fixtures.ts';

type Method = 'begin' | 'view' | 'seal' | 'touched' | 'prepare' | 'commit' | 'discard';

/** A staged resource in which one thing breaks, at once or as a promise where one is allowed. */
function faulty(method: Method, late: boolean): StagedResource {
  const step = (name: Method): undefined => {
    if (name === method) throw new Error(`${name} broke`);
  };
  const slowly = (name: Method): Promise<void> | undefined =>
    late && name === method ? Promise.reject(new Error(`${name} broke`)) : step(name);
  const begin = (): ResourceTransaction => {
    step('begin');
    return {
      get view() {
        step('view');
        return { add: () => undefined };
      },
      readOnly: {},
      begin,
      touched: () => {
        step('touched');
        return { reads: [], writes: [{ key: 'k', before: null, after: 'v' }] };
      },
      seal: () => step('seal'),
      prepare: () => slowly('prepare'),
      commit: () => slowly('commit'),
      discard: () => slowly('discard'),
    };
  };
  return { type: 'staged-resource', readOnly: {}, begin };
}

const kinds: Readonly<Record<Method, string>> = {
  begin: 'failed tool.threw',
  view: 'failed tool.threw',
  seal: 'failed commit.failed',
  touched: 'failed commit.failed',
  prepare: 'failed commit.failed',
  // The record has decided by then.
  commit: 'in-doubt resource.failed: apply',
  discard: 'ok',
};
const cases = (Object.keys(kinds) as Method[]).flatMap((method) =>
  [false, true].map((late) => ({ method, late, expected: kinds[method] })),
);

const nesting = (inner: Tool): Tool =>
  defineTool({
    name: 'outer',
    description: 'Calls another.',
    effects: 'state',
    execute: async (_input, { call }) => {
      return describeEnd(await call(inner.name));
    },
  });

test.each(cases)('a resource whose $method breaks (late: $late): $expected', async ({ method, late, expected }) => {
  const tool = writer(() => null);
  const { session, ends } = testSession();
  const options = { tools: [tool, nesting(tool)], session, resources: { words: faulty(method, late) } };
  const outcome = await outcomeOf({ name: 'write', arguments: {} }, options);
  const { kind } = outcome;
  expect(describeEnd(outcome)).toBe(expected);
  expect(session.read(notes).size).toBe(kind === 'ok' || kind === 'in-doubt' ? 1 : 0);
  expect(ends()).toHaveLength(1);
});

test.each(cases)(
  'a failing call with a resource whose $method breaks (late: $late) leaves nothing',
  async ({ method, late }) => {
    const tool = writer(() => {
      throw new Error('broke');
    });
    const { session, ends } = testSession();
    const { kind } = await outcomeOf(
      { name: 'write', arguments: {} },
      {
        tools: [tool],
        session,
        resources: { words: faulty(method, late) },
      },
    );
    expect(kind).toBe('failed');
    expect(session.read(notes).size).toBe(0);
    expect(ends()).toHaveLength(1);
  },
);

test.each(cases)(
  'a nested call with a resource whose $method breaks (late: $late): each call ends once',
  async ({ method, late }) => {
    const tool = writer(() => null);
    const { session, ends } = testSession();
    const options = { tools: [tool, nesting(tool)], session, resources: { words: faulty(method, late) } };
    const { kind } = await outcomeOf({ id: 'top', name: 'outer', arguments: {} }, options);
    expect(ends().map(({ callId }) => callId)).toEqual(['top/1', 'top']);
    if (method === 'begin') expect(ends()[0]).toMatchObject({ outcome: { code: 'resource.failed', reason: 'begin' } });
    expect(session.read(notes).size).toBe(
      kind === 'ok' && method !== 'begin' && method !== 'view' ? 1 : kind === 'in-doubt' ? 1 : 0,
    );
  },
);
