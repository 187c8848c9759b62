import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { budgets } from '@holdfast/pack-budgets';
import { packPolicies, sequentialDependency } from '@holdfast/policy';
import { describe, expect, test } from 'vitest';
import type { Driver, Given, ModelCall, Ran, Turn } from './driver.ts';
import { testEndings } from './endings.ts';
import { asked, asking, at, denying, pay, read, readFirst, script, ship, type World, world } from './world.ts';

/** The same program, governed in each framework. */
export function testDriver(driver: Driver): void {
  describe.each([driver])('$name', () => {
    testAnswers(driver);
    testRules(driver);
    testEndings(driver);
  });
}

function testAnswers(driver: Driver): void {
  describe.each([false, true])('streams: %s', (streams) => {
    const start = (made: World, turns: readonly Turn[], more: Partial<Given> = {}): Promise<Ran> =>
      driver.run({ guard: made.guard, tools: made.tools, model: script(...turns), streams, ...more });

    test('an allowed call runs once, and the model reads its value', async () => {
      const made = world();
      expect(read(await start(made, [[pay()]]))['call-1']).toContain('{"done":"pay"}');
      expect(made.ran).toEqual(['pay {"order":17}']);
      expect(made.ends()).toMatchObject([{ callId: 'call-1', outcome: { kind: 'ok' } }]);
    });

    test('a denied call does not run, and the model reads the reason', async () => {
      const made = world([denying]);
      expect(read(await start(made, [[pay()]]))['call-1']).toContain('The desk is closed.');
      expect(made.ran).toEqual([]);
    });

    test("a yes in the framework's own flow runs the call once, and the log says who answered", async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      expect(question.ids).toEqual(['call-1']);
      expect(made.ran).toEqual([]);
      expect(read(await question.answer({ 'call-1': true }))['call-1']).toContain('{"done":"pay"}');
      expect(made.ran).toHaveLength(1);
      expect(made.ends()).toMatchObject([{ approval: { type: 'approve', by: 'agent' }, outcome: { kind: 'ok' } }]);
    });

    test('an answer that arrives twice, as from a second click, runs the call once', async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      read(await question.answer({ 'call-1': true }));
      const second = question.answer({ 'call-1': true });
      if (driver.secondAnswer !== undefined) await expect(second).rejects.toMatchObject({ id: driver.secondAnswer });
      else expect(read(await second)['call-1']).toContain('{"done":"pay"}');
      expect(made.ran).toHaveLength(1);
      expect(made.ends()).toHaveLength(1);
    });

    test('an answer that arrives twice at the same time runs the call once', async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      await Promise.allSettled([question.answer({ 'call-1': true }), question.answer({ 'call-1': true })]);
      expect(made.ran).toHaveLength(1);
      expect(made.ends()).toHaveLength(1);
    });

    test("a no in the framework's own flow", async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      expect(read(await question.answer({ 'call-1': false }))['call-1']).toBeDefined();
      expect(made.ran).toEqual([]);
      expect(made.ends()).toMatchObject([{ approval: { type: 'deny', by: 'agent' }, outcome: { kind: 'denied' } }]);
      expect(pendingApprovals(made.session)).toEqual([]);
    });

    test("a no in the framework's own flow after a restart, and the call is made again", async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      const { guard, session } = made.again();
      expect(read(await question.answer({ 'call-1': false }, { guard }))['call-1']).toBeDefined();
      expect(made.ends()).toMatchObject([{ outcome: { kind: 'denied' } }]);
      expect(pendingApprovals(session)).toEqual([]);
      expect(read(await start({ ...made, guard }, [[pay()]]))['call-1']).toContain('person');
      expect(made.ran).toEqual([]);
    });

    test('a no in Holdfast outweighs a later yes in the framework', async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[pay()]]));
      await answerApproval(made.session, 'call-1', { type: 'deny', reason: 'Closed on Sunday.' });
      expect(read(await question.answer({ 'call-1': true }))['call-1']).toContain('Closed on Sunday.');
      expect(made.ran).toEqual([]);
    });

    test('of two calls at once, one is asked about; each runs once, the second after a restart', async () => {
      const made = world([asking]);
      const question = asked(await start(made, [[ship('call-1'), pay('call-2')]]));
      expect(question.ids).toEqual(['call-2']);
      const answered = read(await question.answer({ 'call-2': true }, { guard: made.again().guard }));
      expect(answered['call-1']).toContain('{"done":"ship"}');
      expect(answered['call-2']).toContain('{"done":"pay"}');
      expect([...made.ran].sort()).toEqual(['pay {"order":17}', 'ship {"order":17}']);
      expect(made.ends()).toHaveLength(2);
    });

    test('two questions at once, with a yes and a no', async () => {
      const made = world([asking]);
      const ids = new Set<string>();
      let ran = await start(made, [[pay('call-1', 1), pay('call-2', 2)]]);
      // Some ask one after the other.
      while (ran.type === 'asked') {
        for (const id of ran.ids) ids.add(id);
        ran = await ran.answer({ 'call-1': true, 'call-2': false });
      }
      expect([...ids].sort()).toEqual(['call-1', 'call-2']);
      expect(made.ran).toEqual(['pay {"order":1}']);
      expect(pendingApprovals(made.session)).toEqual([]);
    });
  });
}

function testRules(driver: Driver): void {
  const start = (made: World, model: Given['model'], more: Partial<Given> = {}): Promise<Ran> =>
    driver.run({ guard: made.guard, tools: made.tools, model, ...more });

  test('a question for a person in Holdfast: the model is told, and its second try runs', async () => {
    const made = world([asking]);
    const result = await start(
      made,
      async (index) => {
        if (index === 0) return [pay('call-1')];
        if (index > 1) return 'Done.';
        const [question] = pendingApprovals(made.session);
        if (question === undefined) throw new Error('Nothing waits.');
        await answerApproval(made.session, question, { type: 'approve' });
        return [pay('call-2')];
      },
      { options: { asks: 'holdfast' } },
    );
    expect(read(result)['call-1']).toContain('A person has to approve this in Holdfast first');
    expect(read(result)['call-2']).toContain('{"done":"pay"}');
    expect(made.ran).toHaveLength(1);
    expect(made.ends()).toMatchObject([{ approval: { by: 'person' } }]);
  });

  test('an order rule holds across two tools', async () => {
    const made = world([sequentialDependency({ ship: ['pay'] })]);
    const result = read(await start(made, script([ship('call-1')], [pay('call-2')], [ship('call-3')])));
    expect(result['call-1']).toContain('`pay`');
    expect(made.ran.map((text) => text.split(' ')[0])).toEqual(['pay', 'ship']);
  });

  test('a file is read before it is written', async () => {
    const made = world([readFirst]);
    await start(made, script([at('call-1', 'write')], [at('call-2', 'read')], [at('call-3', 'write')]));
    expect(made.ran.map((text) => text.split(' ')[0])).toEqual(['read', 'write']);
  });

  test('calls at once share a budget', async () => {
    const made = world(packPolicies(budgets, { config: { maxCalls: 1 } }));
    await start(made, script([pay('call-1', 1), pay('call-2', 2)]));
    expect(made.ran).toHaveLength(1);
  });

  test("sub-agents have calls of their own, and share the session's budget", async () => {
    const made = world(packPolicies(budgets, { config: { maxCalls: 2 } }));
    for (const subAgentId of ['a', 'b', 'c']) await start(made, script([pay()]), { options: { subAgentId } });
    expect(made.ran).toHaveLength(2);
    expect(made.ends().map(({ callId }) => callId)).toEqual(['a/call-1', 'b/call-1', 'c/call-1']);
  });

  describe("a sub-agent, by the framework's own handoff", () => {
    const handOff: ModelCall = { id: 'call-9', ...driver.handOff };
    const helper = { subAgentId: 'helper' };

    test("has calls of its own under an id that the agent used, and the agent's call pays its order rule", async () => {
      const made = world([sequentialDependency({ ship: ['pay'] })]);
      await driver.runTeam({
        ...made,
        model: script([pay('call-1')], [handOff]),
        helper: { model: script([ship('call-1')]), options: helper },
      });
      expect(made.ran.map((text) => text.split(' ')[0])).toEqual(['pay', 'ship']);
      const ids = made.ends().map(({ callId }) => callId);
      expect(ids).toEqual(expect.arrayContaining(['call-1', 'helper/call-1']));
    });

    test('waits for a person in Holdfast', async () => {
      const made = world([asking]);
      const model = async (index: number): Promise<Turn> => {
        if (index > 1) return 'Done.';
        const [question] = pendingApprovals(made.session);
        if (question !== undefined) await answerApproval(made.session, question, { type: 'approve' });
        return [pay(`call-${index}`)];
      };
      await driver.runTeam({
        ...made,
        model: script([handOff]),
        helper: { model, options: { ...helper, asks: 'holdfast' } },
      });
      expect(made.ran).toHaveLength(1);
      expect(made.ends()).toEqual(
        expect.arrayContaining([expect.objectContaining({ approval: expect.objectContaining({ by: 'person' }) })]),
      );
    });
  });

  test('a guard that cannot record denies', async () => {
    const made = world();
    await made.session.close();
    expect(read(await start(made, script([pay()])))['call-1']).toContain('could not be decided');
    expect(made.ran).toEqual([]);
  });
}
