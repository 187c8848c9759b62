import {
  allow,
  definePolicy,
  defineTool,
  deny,
  type Json,
  type JsonObject,
  type Policy,
  type Tool,
  type ToolContext,
  toolError,
  upsert,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import {
  answerApproval,
  executeToolCall,
  pendingApprovals,
  resumeRun,
  resumeToolCall,
  runAgent,
} from '@holdfast/executor';
import { callBudget, denyTools, requireApproval, sequentialDependency } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, type Session, type SessionStore } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';

/** A call that a random session makes, with what it makes itself. */
export interface RandomCall {
  readonly tool: string;
  readonly key: string;
  readonly fails: boolean;
  readonly calls: readonly RandomCall[];
}

/** Calls of one message of a model each, or one on its own; or the state is put back to the start. */
export type RandomStep =
  | { readonly type: 'turns'; readonly turns: readonly (readonly RandomCall[])[] }
  | { readonly type: 'direct'; readonly call: RandomCall }
  | { readonly type: 'reset' };

export interface RandomSession {
  readonly steps: readonly RandomStep[];
  /** Which of the policies are in force. */
  readonly inForce: readonly boolean[];
  /** Answers each question once the run waits, and lets it continue. */
  readonly later: boolean;
}

const simpleTools = ['look', 'note', 'send', 'lose'] as const;

const leaf: fc.Arbitrary<RandomCall> = fc.record({
  tool: fc.constantFrom(...simpleTools),
  key: fc.constantFrom('a', 'b', 'c'),
  fails: fc.boolean(),
  calls: fc.constant([]),
});
const { call } = fc.letrec<{ call: RandomCall }>((tie) => ({
  call: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    fc.record({
      tool: fc.constantFrom('group', 'delegate'),
      key: fc.constantFrom('a', 'b', 'c'),
      fails: fc.boolean(),
      calls: fc.array(tie('call'), { maxLength: 3 }),
    }),
  ),
}));

export const randomSession: fc.Arbitrary<RandomSession> = fc.record({
  steps: fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          type: fc.constant('turns' as const),
          turns: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('direct' as const), call }) },
      { weight: 1, arbitrary: fc.constant({ type: 'reset' as const }) },
    ),
    { minLength: 1, maxLength: 6 },
  ),
  inForce: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  later: fc.boolean(),
});

/** New ones each time: what they know is in a session. */
export function listPolicies(): readonly Policy[] {
  return [
    callBudget({ maxCalls: 6 }),
    sequentialDependency({ send: ['note'] }),
    requireApproval({ tools: ['send', 'lose'], when: (input) => keyOf(input) !== 'a' }),
    denyTools(['delegate'], { id: 'nobody-else' }),
    definePolicy<number>({
      name: 'each-key-once',
      stateKind: 'keyed',
      check: ({ tool, input }, { state }) =>
        tool.name === 'note' && state.has(keyOf(input)) ? deny(`\`${keyOf(input)}\` is noted.`) : allow,
      onResult: ({ tool, input }) => (tool.name === 'note' ? upsert(keyOf(input), 1) : []),
    }),
    definePolicy<number>({
      name: 'seen-values',
      initialState: 0,
      check: (_call, { state }) => (state > 40 ? deny('Seen enough.') : allow),
      onResult: (_call, { value }, { state }) => state + (typeof value === 'number' ? value : 0),
    }),
  ];
}

/** The policies in force, with their answer to a tool that needs no approval. */
export function policiesOf({ inForce }: Pick<RandomSession, 'inForce'>): readonly Policy[] {
  return listPolicies().filter((_policy, index) => inForce[index]);
}

function keyOf(input: Json): string {
  return isPlainObject(input) ? String(input['key']) : '';
}

const inputSchema = jsonSchema<{
  readonly key: string;
  readonly fails: boolean;
  readonly calls: readonly RandomCall[];
}>({
  type: 'object',
  properties: { key: { type: 'string' }, fails: { type: 'boolean' }, calls: { type: 'array', items: {} } },
  required: ['key', 'fails', 'calls'],
});
const values: Readonly<Record<string, number>> = { a: 1, b: 10, c: 20 };

function makeTools(policies: readonly Policy[]): readonly Tool[] {
  const tool = (
    name: string,
    effects: Tool['effects'],
    work?: (calls: readonly RandomCall[], context: ToolContext) => Promise<void>,
  ): Tool =>
    defineTool({
      name,
      description: `Does what ${name} does.`,
      inputSchema,
      effects,
      async execute({ key, fails, calls }, context) {
        await work?.(calls, context);
        // An external call whose answer is not JSON is in doubt.
        if (fails) return name === 'lose' ? (undefined as never) : toolError('It failed.');
        return values[key] ?? 0;
      },
    });
  const tools: Tool[] = [
    tool('look', 'none'),
    tool('note', 'state'),
    tool('send', 'external'),
    tool('lose', 'external'),
    tool('group', 'external', async (calls, context) => {
      for (const nested of calls) await context.call(nested.tool, argumentsOf(nested));
    }),
    tool('delegate', 'external', async (calls, context) => {
      const session = context.child() as Session;
      for (const nested of calls) {
        await executeToolCall({ name: nested.tool, arguments: argumentsOf(nested) }, { tools, policies, session });
      }
    }),
  ];
  return tools;
}

function argumentsOf({ key, fails, calls }: RandomCall): JsonObject {
  return JSON.parse(JSON.stringify({ key, fails, calls }));
}

/** Plays the session; a person approves of `b` and refuses `c`. */
export async function playSession(
  { steps, inForce, later }: Pick<RandomSession, 'steps' | 'inForce' | 'later'>,
  store: SessionStore,
): Promise<void> {
  const session = createSession({ store });
  const policies = policiesOf({ inForce });
  const tools = makeTools(policies);
  const shared = { session, policies };
  const atOnce = later ? {} : { approve: ({ input }: { readonly input: Json }) => answerTo(input) };
  const prompt = createPrompt({
    ns: 'tests',
    key: 'random',
    sections: [markdownSection({ title: 'Work', template: 'Work.', tools })],
  });
  for (const step of steps) {
    if (step.type === 'reset') {
      session.reset();
    } else if (step.type === 'direct') {
      const options = { ...shared, ...atOnce, tools };
      const { tool } = step.call;
      const ended = await executeToolCall({ name: tool, arguments: argumentsOf(step.call) }, options);
      if (ended.kind === 'suspended') {
        await answerAll(session);
        for (const { callId } of ended.pending) await resumeToolCall(callId, options);
      }
    } else {
      const turns = step.turns.map((calls) => ({
        // The same ids in every turn, as some providers do it.
        calls: calls.map((each, index) => ({ id: `c${index}`, name: each.tool, arguments: argumentsOf(each) })),
      }));
      const model = scriptedModel([...turns, { text: 'Done.' }]);
      const options = { ...shared, ...atOnce, model, prompt: prompt.bind({}) };
      let { status } = await runAgent({ ...options, input: 'Go.' }).result;
      while (status === 'suspended') {
        await answerAll(session);
        ({ status } = await resumeRun(options).result);
      }
      if (status !== 'completed') throw new Error(`the run ended as ${status}`);
    }
  }
  await session.close();
}

function answerTo(input: Json): { readonly type: 'approve' | 'deny' } {
  return { type: keyOf(input) === 'b' ? 'approve' : 'deny' };
}

async function answerAll(session: Session): Promise<void> {
  for (const pending of pendingApprovals(session)) await answerApproval(session, pending, answerTo(pending.input));
}

/** Every end of a call, those of child sessions too, by session and place. */
export function listEnds(
  records: readonly LogRecord[],
  child?: string,
): readonly (LogRecord & { readonly child?: string })[] {
  return records.flatMap((record) => {
    if (record.type === 'tool-call-end') return [child === undefined ? record : { ...record, child }];
    if (record.type !== 'child-record') return [];
    const { entry, seq, atMs, sessionId } = record;
    return listEnds([{ ...(entry as JsonObject & { type: string }), seq, atMs }], String(sessionId));
  });
}
