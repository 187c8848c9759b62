import { append, ask, definePolicy, defineSlice, defineTool, type Json, type Policy } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { type ExecutorProgram, type ExecutorRun, executorConformance } from '@holdfast/testing/conformance';
import { describe, expect, test } from 'vitest';
import type { Driver, Given, Ran } from './driver.ts';
import { world } from './world.ts';

const staged = defineSlice<Json>({ id: 'staged', kind: 'list', reducers: { staged: (_, payload) => append(payload) } });
const rules: Readonly<Record<'asks' | 'throws', Policy>> = {
  asks: definePolicy({ name: 'asks', check: () => ask('May it?') }),
  throws: definePolicy({
    name: 'throws',
    check: () => {
      throw new Error('Broken.');
    },
  }),
};

function toRun(driver: Driver): (program: ExecutorProgram) => Promise<ExecutorRun> {
  return async ({ calls, save, rule, deadlineMs }) => {
    const clock = manualClock();
    const store = memoryStore();
    const tool = defineTool({
      name: 'save',
      description: 'Save a text.',
      inputSchema: jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }),
      effects: 'external',
      repeat: 'never',
      ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }),
      execute({ text }, { session }) {
        if (deadlineMs !== undefined) setImmediate(() => clock.advance(deadlineMs));
        return save(String(text), (added) => session.dispatch({ type: 'staged', payload: added }));
      },
    });
    const policies = rule === undefined ? [] : [rules[rule]];
    const open = (session: Session): NonNullable<Given['own']> => ({
      tools: [tool],
      options: { session, policies, clock },
    });
    let asked = 0;
    const model: Given['model'] = (index) => {
      asked = index + 1;
      return index === 0 ? calls.map(({ id, name, arguments: input }) => ({ id, name, input })) : 'Done.';
    };
    const session = createSession({ store, clock, slices: [staged] });
    const toMade = (ran: Ran): ExecutorRun => ({
      finished: asked === 2,
      told: ran.type === 'done' ? Object.values(ran.read) : [],
      staged: [...session.read(staged)].map(String),
      ...(ran.type === 'asked' && {
        approve: async () =>
          toMade(
            await ran.answer(
              { 'call-1': true },
              { own: open(replay(store.records, { store, clock, slices: [staged] })) },
            ),
          ),
      }),
    });
    return toMade(await driver.run({ guard: world().guard, tools: {}, own: open(session), model }));
  };
}

/** The kit for executors, with tools of Holdfast in a framework. */
export function testOwnKit(driver: Driver): void {
  // A second call under an id is a call of its own, as for the guard.
  const checks = executorConformance({ run: toRun(driver), without: ['ids'] }).filter(
    ({ skipped }) => skipped === undefined,
  );
  const isOurs = ({ name }: { readonly name: string }): boolean => !(driver.decides ?? []).includes(name);
  describe(`${driver.name}: tools of Holdfast in the situations of the kit`, () => {
    test.each(checks.filter(isOurs))('$name', async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });

    test.each(checks.filter((check) => !isOurs(check)))('the framework itself stops: $name', async ({ run }) => {
      await expect(run()).rejects.toBeInstanceOf(Error);
    });
  });
}
