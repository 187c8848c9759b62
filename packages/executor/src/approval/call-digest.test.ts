import { ask, definePolicy, defineTool, type PendingApproval, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { call, playing, stop, testClock, toolsPrompt } from '../fixtures.ts';
import { answerApproval, executeToolCall, pendingApprovals, runAgent } from '../index.ts';

const policies = [definePolicy({ name: 'p', check: () => ask('May it?') })];
const clock = testClock();

interface Asking {
  readonly session?: string;
  readonly id?: string;
  readonly input?: object | string;
  readonly tool?: Partial<Omit<Tool, 'execute'>>;
  readonly more?: boolean;
}

const schema = (extra: object = {}) =>
  jsonSchema({ type: 'object', properties: { a: { type: 'number' }, b: { type: 'number', ...extra } } });

async function questionOf({ session: id = 's', id: callId = 'c', input = {}, tool = {}, more = false }: Asking = {}) {
  const asked = defineTool({
    name: 'act',
    description: 'Acts.',
    inputSchema: schema(),
    ...tool,
    execute: () => 'done',
  } as Parameters<typeof defineTool>[0]) as Tool;
  const session = createSession({ id, clock });
  await executeToolCall(
    { id: callId, name: 'act', arguments: input },
    {
      tools: [asked],
      session,
      clock,
      policies: more ? [...policies, definePolicy({ name: 'q', check: () => ({ type: 'allow' }) })] : policies,
    },
  );
  return { session, question: pendingApprovals(session)[0] as PendingApproval };
}

test('the same question has the same digests, whatever the order of keys', async () => {
  const { question } = await questionOf({ input: { a: 1, b: 2 } });
  const { question: again } = await questionOf({ input: '{ "b": 2, "a": 1 }' });
  expect(again).toEqual(question);
});

const others: { what: string; asking: Asking; sameTool: boolean }[] = [
  { what: 'session', asking: { session: 't' }, sameTool: true },
  { what: 'id', asking: { id: 'd' }, sameTool: true },
  { what: 'argument', asking: { input: { a: 1 } }, sameTool: true },
  { what: 'set of policies', asking: { more: true }, sameTool: true },
  { what: 'description', asking: { tool: { description: 'Acts twice.' } }, sameTool: false },
  { what: 'input schema', asking: { tool: { inputSchema: schema({ minimum: 0 }) } }, sameTool: false },
  { what: 'output schema', asking: { tool: { outputSchema: schema() } }, sameTool: false },
  { what: 'effects', asking: { tool: { effects: 'state' } }, sameTool: false },
  { what: 'repeat', asking: { tool: { repeat: 'safe' } }, sameTool: false },
  { what: 'danger', asking: { tool: { dangerous: true } }, sameTool: false },
  { what: 'origin', asking: { tool: { origin: { kind: 'file', source: 'act.mjs' } } }, sameTool: false },
  { what: 'code', asking: { tool: { origin: { kind: 'file', source: 'act.mjs', digest: 'ff' } } }, sameTool: false },
];
test.each(others)('another $what is another question', async ({ asking, sameTool }) => {
  const { question } = await questionOf();
  const { question: other } = await questionOf(asking);
  expect(other.digest).not.toBe(question.digest);
  expect(other.toolDigest === question.toolDigest).toBe(sameTool);
});

test('a tool that may be tried again, and more often, is another one each time', async () => {
  const tools = [{}, { retry: { attempts: 2, delayMs: 0 } }, { retry: { attempts: 3, delayMs: 0 } }];
  const questions = await Promise.all(tools.map((tool) => questionOf({ tool: { repeat: 'safe', ...tool } })));
  expect(new Set(questions.map(({ question }) => question.toolDigest)).size).toBe(3);
});

test('another code of one file is another tool', async () => {
  const from = (digest: string): Asking => ({ tool: { origin: { kind: 'file', source: 'act.mjs', digest } } });
  const digests = [(await questionOf(from('aa'))).question, (await questionOf(from('bb'))).question];
  expect(new Set(digests.map(({ toolDigest }) => toolDigest)).size).toBe(2);
});

test('the same call in another run, or turn, is another question', async () => {
  const act = defineTool({ name: 'act', description: 'Acts.', execute: () => 'done' });
  const other = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
  const onlyAct = [
    definePolicy({ name: 'p', check: ({ tool }) => (tool.name === 'act' ? ask('?') : { type: 'allow' }) }),
  ];
  const session = createSession({ id: 's', clock });
  const options = { prompt: toolsPrompt([act, other]), session, policies: onlyAct, clock, input: 'Go.' };
  const asking = [call('act', {}, 'c'), stop];
  await runAgent({ ...options, model: playing(asking) }).result;
  await runAgent({ ...options, model: playing(asking) }).result;
  await runAgent({ ...options, model: playing([call('look', {}, 'c'), stop], asking) }).result;
  const questions = pendingApprovals(session);
  expect(questions.map(({ turn }) => turn)).toEqual([1, 1, 2]);
  expect(new Set(questions.map(({ digest }) => digest)).size).toBe(3);
});

test('a question of another session is not answered here', async () => {
  const { session } = await questionOf();
  const { question } = await questionOf({ session: 't' });
  await expect(answerApproval(session, question, { type: 'approve' }, { clock })).rejects.toMatchObject({
    code: 'approval.mismatch',
  });
});
