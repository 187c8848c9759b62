import type { Json, JsonObject } from '@holdfast/core';
import type { ReleasingGuard } from '@holdfast/guard';
import { sequentialDependency } from '@holdfast/policy';
import { expect, test } from 'vitest';
import type { Driver } from './driver.ts';
import { pay, read, script, ship, world } from './world.ts';

/** How calls end that fail, are stopped or are told twice. */
export function testEndings(driver: Driver): void {
  test('a body that throws fails: the model reads why, and no rule is paid', async () => {
    const made = world([sequentialDependency({ ship: ['pay'] })]);
    const tools = {
      ...made.tools,
      pay: () => {
        throw new Error('The bank is offline.');
      },
    };
    const result = await driver.run({ guard: made.guard, tools, model: script([pay('call-1')], [ship('call-2')]) });
    expect(read(result)['call-1']).toContain(driver.errorText ?? 'The bank is offline.');
    expect(made.ends()).toMatchObject([{ outcome: { kind: 'failed' } }, { outcome: { kind: 'denied' } }]);
  });

  test('a run that is stopped leaves its call in doubt', async () => {
    const made = world();
    const stop = new AbortController();
    const begun = Promise.withResolvers<void>();
    const tools = {
      ...made.tools,
      pay: (_input: JsonObject, signal: AbortSignal | undefined) => {
        begun.resolve();
        return new Promise<JsonObject>((_, reject) => {
          if (driver.waitsForBodies === true) signal?.addEventListener('abort', () => reject(signal.reason));
        });
      },
    };
    const running = driver
      .run({ guard: made.guard, tools, model: script([pay()]), signal: stop.signal })
      .catch((error: unknown) => error);
    await begun.promise;
    stop.abort(new Error('Stopped.'));
    await running;
    await expect.poll(() => made.ends()).toMatchObject([{ outcome: { kind: 'in-doubt' } }]);
  });

  const withDeadlines = [driver].filter(({ hasDeadlines }) => hasDeadlines === true);
  test.each(withDeadlines)("a body past $name's own deadline is in doubt, and the run goes on", async () => {
    const made = world([sequentialDependency({ ship: ['pay'] })]);
    const tools = { ...made.tools, pay: () => new Promise<Json>(() => undefined) };
    const model = script([pay('call-1')], [ship('call-2')]);
    expect(read(await driver.run({ guard: made.guard, tools, model, deadlineMs: 20 }))['call-2']).toContain('`pay`');
    await expect
      .poll(() => made.ends())
      .toMatchObject([
        { callId: 'call-1', outcome: { kind: 'in-doubt' } },
        { callId: 'call-2', outcome: { kind: 'denied' } },
      ]);
    expect(made.ran).toEqual([]);
  });

  test('a call whose process died in its body does not run again', async () => {
    const made = world();
    const begun = Promise.withResolvers<void>();
    const hanging = {
      ...made.tools,
      pay: () => {
        made.ran.push('pay');
        begun.resolve();
        return new Promise<JsonObject>(() => undefined);
      },
    };
    const dead = driver.run({ guard: made.guard, tools: hanging, model: script([pay()]) });
    dead.catch(() => undefined);
    await begun.promise;
    const { guard } = made.again();
    const result = read(await driver.run({ guard, tools: made.tools, model: script([pay()]) }));
    expect(result['call-1']).toContain('not known whether `pay` took effect');
    expect(made.ran).toEqual(['pay']);
  });

  test('a call that the framework runs again gives its first value, also in another process, and writes nothing', async () => {
    const made = world();
    const run = async (guard: ReleasingGuard): Promise<void> => {
      const result = read(await driver.run({ guard, tools: made.tools, model: script([pay()]) }));
      expect(result['call-1']).toContain('{"done":"pay"}');
    };
    await run(made.guard);
    const written = made.written();
    await run(made.guard);
    await run(made.again().guard);
    expect(made.ran).toHaveLength(1);
    expect(made.written()).toBe(written);
  });
}
