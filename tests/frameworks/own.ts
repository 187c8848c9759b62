import { append, defineSlice, defineTool, type Json, type Policy } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import type { OwnToolOptions } from '@holdfast/guard/strands';
import { sequentialDependency } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, memoryStore, replay, type Session } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import type { Driver, Given, Ran } from './driver.ts';
import { asked, asking, denying, pay, read, script, ship, world } from './world.ts';

const notes = defineSlice<Json>({ id: 'notes', kind: 'list', reducers: { noted: (_, payload) => append(payload) } });

interface OwnWorld {
  readonly own: NonNullable<Given['own']>;
  readonly session: Session;
  readonly ran: string[];
  /** The state of successful calls. */
  noted(): readonly Json[];
  ends(): readonly LogRecord[];
  /** The tools in another process. */
  again(): OwnWorld;
}

function ownWorld(
  policies: readonly Policy[] = [],
  { body = (): void => undefined, options = {} }: { body?: () => void; options?: Partial<OwnToolOptions> } = {},
): OwnWorld {
  const store = memoryStore();
  const ran: string[] = [];
  const make = (name: string) =>
    defineTool({
      name,
      description: name,
      inputSchema: jsonSchema({ type: 'object', properties: { order: { type: 'number' } }, required: ['order'] }),
      effects: 'external',
      repeat: 'never',
      execute(input, { session }) {
        ran.push(`${name} ${JSON.stringify(input)}`);
        session.dispatch({ type: 'noted', payload: name });
        body();
        return { done: name };
      },
    });
  const open = (session: Session): OwnWorld => ({
    own: { tools: ['pay', 'ship'].map(make), options: { session, policies, ...options } },
    session,
    ran,
    noted: () => [...session.read(notes)],
    ends: () => store.records.filter(({ type }) => type === 'tool-call-end'),
    again: () => open(replay(store.records, { store, slices: [notes] })),
  });
  return open(createSession({ store, slices: [notes] }));
}

/** Tools of Holdfast in a framework: its own call path, state and approvals. */
export function testOwnTools(driver: Driver): void {
  const { guard } = world();
  const start = (made: OwnWorld, model: Given['model'], more: Partial<Given> = {}): Promise<Ran> =>
    driver.run({ guard, tools: {}, own: made.own, model, ...more });

  describe(`${driver.name}: tools of Holdfast`, () => {
    test.each([false, true])(
      'a success is told and committed; told again, it runs once (streams: %s)',
      async (streams) => {
        const made = ownWorld();
        expect(read(await start(made, script([pay()]), { streams }))['call-1']).toMatch(/done\W+pay/);
        const records = made.ends().length;
        expect(read(await start(made.again(), script([pay()]), { streams }))['call-1']).toMatch(/done\W+pay/);
        expect(made.ran).toEqual(['pay {"order":17}']);
        expect(made.noted()).toEqual(['pay']);
        expect(made.ends()).toHaveLength(records);
      },
    );

    test('a denial is told with its reason, and nothing runs', async () => {
      const made = ownWorld([denying]);
      expect(read(await start(made, script([pay()])))['call-1']).toContain('The desk is closed.');
      expect(made.ran).toEqual([]);
    });

    test('an order rule holds across two tools', async () => {
      const made = ownWorld([sequentialDependency({ ship: ['pay'] })]);
      const told = read(await start(made, script([ship('call-1')], [pay('call-2')], [ship('call-3')])));
      expect(told['call-1']).toContain('`pay`');
      expect(made.ran.map((text) => text.split(' ')[0])).toEqual(['pay', 'ship']);
    });

    test('what a failed call has staged is absent, and the model reads why it failed', async () => {
      const made = ownWorld([], {
        body: () => {
          throw new Error('The bank is offline.');
        },
      });
      expect(read(await start(made, script([pay()])))['call-1']).toContain('The bank is offline.');
      expect(made.ran).toHaveLength(1);
      expect(made.noted()).toEqual([]);
      expect(made.ends()).toMatchObject([{ outcome: { kind: 'failed' } }]);
    });

    test("a yes in the framework's own flow, after a restart, runs the call once", async () => {
      const made = ownWorld([asking]);
      const question = asked(await start(made, script([ship('call-1'), pay('call-2')])));
      expect(question.ids).toEqual(['call-2']);
      expect(made.ran).not.toContain('pay {"order":17}');
      const again = made.again();
      const told = read(await question.answer({ 'call-2': true }, { own: again.own }));
      expect(told['call-1']).toMatch(/done\W+ship/);
      expect(told['call-2']).toMatch(/done\W+pay/);
      expect([...made.ran].sort()).toEqual(['pay {"order":17}', 'ship {"order":17}']);
      expect([...again.noted()].sort()).toEqual(['pay', 'ship']);
      expect(made.ends().find(({ callId }) => callId === 'call-2')).toMatchObject({
        approval: { type: 'approve', by: 'agent' },
      });
    });

    test("a no in the framework's own flow ends the call", async () => {
      const made = ownWorld([asking]);
      const question = asked(await start(made, script([pay()])));
      expect(read(await question.answer({ 'call-1': false }))['call-1']).toBeDefined();
      expect(made.ran).toEqual([]);
      expect(made.ends()).toMatchObject([{ approval: { type: 'deny', by: 'agent' }, outcome: { kind: 'denied' } }]);
      expect(pendingApprovals(made.session)).toEqual([]);
    });

    test('two questions at once, with a yes and a no', async () => {
      const made = ownWorld([asking]);
      let ran = await start(made, script([pay('call-1', 1), pay('call-2', 2)]));
      // Some ask one after the other.
      while (ran.type === 'asked') ran = await ran.answer({ 'call-1': false, 'call-2': true });
      expect(made.ran).toEqual(['pay {"order":2}']);
      expect(pendingApprovals(made.session)).toEqual([]);
    });

    test('a no in Holdfast outweighs a later yes in the framework', async () => {
      const made = ownWorld([asking]);
      const question = asked(await start(made, script([pay()])));
      await answerApproval(made.session, 'call-1', { type: 'deny', reason: 'Closed on Sunday.' });
      expect(read(await question.answer({ 'call-1': true }))['call-1']).toContain('Closed on Sunday');
      expect(made.ran).toEqual([]);
    });

    test('a question for a person in Holdfast: the model is told, and its second try runs', async () => {
      const made = ownWorld([asking], { options: { asks: 'holdfast' } });
      const told = read(
        await start(made, async (index) => {
          if (index === 0) return [pay('call-1')];
          if (index > 1) return 'Done.';
          const [question] = pendingApprovals(made.session);
          if (question === undefined) throw new Error('Nothing waits.');
          await answerApproval(made.session, question, { type: 'approve' });
          return [pay('call-2')];
        }),
      );
      expect(told['call-1']).toContain('A person has to approve this in Holdfast first');
      expect(told['call-2']).toMatch(/done\W+pay/);
      expect(made.ran).toHaveLength(1);
      expect(made.ends()).toMatchObject([{ callId: 'call-1', approval: { by: 'person' } }]);
    });

    test('an argument that the tool does not declare: nothing runs, and the model reads why', async () => {
      const made = ownWorld();
      const call = { id: 'call-1', name: 'pay', input: { order: 17, dryRun: true } };
      expect(read(await start(made, script([call])))['call-1']).toContain('dryRun');
      expect(made.ran).toEqual([]);
    });
  });
}
