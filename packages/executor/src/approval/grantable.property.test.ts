import {
  type ApprovalAnswer,
  allow,
  ask,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type PendingApproval,
  type Policy,
  type Tool,
} from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testSession } from '../fixtures.ts';
import { answerApproval, type CallOptions, executeToolCall, listGrants, resumeToolCall } from '../index.ts';

type Kind = 'allow' | 'ask' | 'ask-each' | 'deny' | 'observed';

/** How an approval is answered: at once, later by another process, or not at all. */
type Manner = 'at-once' | 'later' | 'unattended';

interface Attempt {
  readonly kinds: readonly Kind[];
  readonly slow: boolean;
  readonly dangerous: boolean;
  readonly nested: boolean;
  readonly manner: Manner;
  readonly answer: ApprovalAnswer;
}

const decisions: Readonly<Record<Kind, () => Decision>> = {
  allow: () => allow,
  ask: () => ask('Sure?'),
  'ask-each': () => ask('Sure about this one?', { grantable: false }),
  deny: () => deny('No.'),
  observed: () => ({ type: 'allow', observed: ask('Sure?', { grantable: false }) }),
};

function toPolicies({ kinds, slow }: Attempt): readonly Policy[] {
  return kinds.map((kind, index) =>
    definePolicy({
      name: `p${index}`,
      check({ tool }) {
        if (tool.name !== 'work') return allow;
        const decision = decisions[kind]();
        return slow ? Promise.resolve(decision) : decision;
      },
    }),
  );
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  kinds: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<Kind>('allow', 'ask', 'ask-each', 'observed') },
      { weight: 1, arbitrary: fc.constant<Kind>('deny') },
    ),
    { maxLength: 4 },
  ),
  slow: fc.boolean(),
  dangerous: fc.boolean(),
  nested: fc.boolean(),
  manner: fc.constantFrom<Manner>('at-once', 'at-once', 'later', 'unattended'),
  answer: fc.constantFrom<ApprovalAnswer>(
    { type: 'approve' },
    { type: 'approve', grant: true },
    { type: 'approve', grant: true },
    { type: 'deny' },
  ),
});

test('a call with an ask that cannot be granted runs only if that call was approved itself', async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(attempt, { minLength: 1, maxLength: 5 }), async (hostGrants, attempts) => {
      const { session } = testSession();
      // The digest of the tool is what a grant is bound to: one that is dangerous is another tool.
      const granted = new Map([
        [true, false],
        [false, false],
      ]);
      for (const [index, each] of attempts.entries()) {
        const { kinds, dangerous, nested, manner, answer } = each;
        let runs = 0;
        const work: Tool = defineTool({
          name: 'work',
          description: 'Counts.',
          effects: 'state',
          dangerous,
          execute: () => (runs += 1),
        });
        const around: Tool = defineTool({
          name: 'around',
          description: 'Calls another tool.',
          effects: 'state',
          execute: async (_input, context) => (await context.call('work')).kind,
        });
        const asked: PendingApproval[] = [];
        const approve = (pending: PendingApproval): ApprovalAnswer => {
          asked.push(pending);
          return answer;
        };
        const options: CallOptions = {
          tools: [work, around],
          session,
          policies: toPolicies(each),
          grants: hostGrants ? ['work'] : [],
          unattended: manner === 'unattended',
          ...(manner === 'at-once' ? { approve } : {}),
        };
        const id = `c${index}`;
        const outcome = await executeToolCall({ id, name: nested ? 'around' : 'work', arguments: {} }, options);
        if (outcome.kind === 'suspended') {
          asked.push(...outcome.pending);
          await answerApproval(session, id, answer);
          await resumeToolCall(id, options);
        }

        const isGranted = hostGrants || granted.get(dangerous) === true;
        const ungrantable = kinds.includes('ask-each');
        const wouldAsk = ungrantable || (!isGranted && (kinds.includes('ask') || dangerous));
        const canAnswer = manner === 'at-once' || (manner === 'later' && !nested);
        const approved = canAnswer && answer.type === 'approve';
        expect(runs).toBe(!kinds.includes('deny') && (!wouldAsk || approved) ? 1 : 0);
        expect(asked.length > 0).toBe(!kinds.includes('deny') && wouldAsk && canAnswer);
        for (const { asks } of asked) {
          expect(asks.some(({ grantable }) => grantable === false)).toBe(ungrantable);
        }

        // An answer to a question that cannot be granted grants nothing, not even what else was asked with it.
        const grants = asked.length > 0 && approved && answer.type === 'approve' && answer.grant === true;
        if (grants && !ungrantable) {
          granted.set(dangerous, true);
          granted.set(!dangerous, false);
        }
        expect(listGrants(session).length > 0).toBe([...granted.values()].includes(true));
      }
    }),
    { seed: 20_260_517, numRuns: 300 },
  );
});
