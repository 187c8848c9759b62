import {
  answerApproval,
  memoryStore,
  openSession,
  pendingApprovals,
  requireApproval,
  resumeRun,
  runAgent,
  type Tool,
} from '@holdfast/kit';
import { scriptedModel } from '@holdfast/testing';

/** What each program's schema describes. */
export interface Refund {
  readonly order: number;
  readonly euros: number;
}

/** An agent calls `tool` twice; the first call waits for an approval, given to the session that is rebuilt from its log. */
export async function approveRefund(tool: Tool<Refund, string>): Promise<'ok'> {
  const call = (input: object) => ({ name: tool.name, arguments: { order: 17, euros: 250, ...input } });
  const agent = {
    model: scriptedModel([{ calls: [call({}), call({ dryRun: true })] }, { text: 'Done.' }]),
    instructions: 'Help with orders.',
    tools: [tool],
    policies: [requireApproval({ tools: [tool], when: ({ euros }) => euros > 100 })],
  };
  const store = memoryStore();
  const session = await openSession(store, { id: 'monday' });
  const { status, outcomes } = await runAgent({ ...agent, session, input: 'Refund order 17.' });
  await session.close();
  check('the first run', [status, outcomes.length], ['suspended', 0]);

  const reopened = await openSession(memoryStore(store.records), { id: 'monday' });
  for (const question of pendingApprovals(reopened)) await answerApproval(reopened, question, { type: 'approve' });
  const resumed = await resumeRun({ ...agent, session: reopened });
  await reopened.close();
  check('the resumed run', [resumed.status, resumed.text], ['completed', 'Done.']);
  const ended = resumed.outcomes.map((outcome) => (outcome.kind === 'ok' ? outcome.value : outcome.kind));
  check('the calls', ended, ['250.00 euros for order 17', 'invalid']);
  return 'ok';
}

/** @throws Error when `actual` is not `expected`. */
export function check(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, got ${found}`);
}
