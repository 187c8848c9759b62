import * as v from 'valibot';
import { argumentsText, type Entity, type Input, inputSchema, lookUp, lookUpAndFail, toolName } from './work.ts';

/** The validated floor: parse, validate, call. */
export async function callValidated(): Promise<void> {
  await lookUp(v.parse(inputSchema, JSON.parse(argumentsText)));
}

interface Message {
  readonly role: string;
  readonly content: string;
}

/** A loop of `turns` validated calls over a list of messages, written by hand. */
export async function loopValidated(turns: number): Promise<readonly Message[]> {
  const tools = new Map([[toolName, lookUp]]);
  const messages: Message[] = [{ role: 'user', content: 'Look the entity up.' }];
  for (let turn = 0; turn < turns; turn += 1) {
    const call = await Promise.resolve({ name: toolName, json: argumentsText });
    messages.push({ role: 'assistant', content: '' });
    const answer = await tools.get(call.name)?.(v.parse(inputSchema, JSON.parse(call.json)));
    messages.push({ role: 'tool', content: JSON.stringify(answer) });
  }
  return messages;
}

interface Tool {
  readonly name: string;
  readonly run: (input: Input) => Promise<Entity>;
}

interface Policy {
  check(tool: Tool, input: Input, session: Session): { readonly allowed: boolean; readonly reason: string | null };
  onResult(tool: Tool, input: Input): string;
}

interface Log {
  readonly count: number;
  readonly event?: object;
  readonly tail?: Log;
}

interface Session {
  state: { readonly done: ReadonlySet<string>; readonly log: Log };
}

const policies: readonly Policy[] = [
  {
    check: (tool, _input, { state }) => ({
      allowed: tool.name !== 'deploy' || state.done.has('ran:test'),
      reason: null,
    }),
    onResult: (tool) => `ran:${tool.name}`,
  },
  {
    check: (tool, input, { state }) => ({
      allowed: tool.name !== 'write_file' || state.done.has(`read:${input.entity_id}`),
      reason: null,
    }),
    onResult: (_tool, { entity_id }) => `read:${entity_id}`,
  },
];

/**
 * The governed floor: minimal code for a governed call with rollback, step by step. Look-up, parse, validate, policies, deadline, a
 * frozen context, a snapshot, the tool, the policies' next states or the snapshot again, one event, the result as text.
 */
export function governedFloor(fails: boolean): () => Promise<void> {
  const session: Session = { state: { done: new Set(), log: { count: 0 } } };
  const tools = new Map<string, Tool>([[toolName, { name: toolName, run: fails ? lookUpAndFail : lookUp }]]);
  const rendered = { text: 'Look the entity up.' };
  const refuse = (
    message: string | null,
  ): { readonly success: boolean; readonly message: string | null; value: unknown } => ({
    success: false,
    message,
    value: null,
  });
  async function execute(name: string, json: string, deadlineMs = Number.POSITIVE_INFINITY) {
    const tool = tools.get(name);
    if (tool === undefined) return refuse('unknown tool');
    let parsed: unknown;
    try {
      parsed = JSON.parse(json);
    } catch {
      return refuse('not JSON');
    }
    const checked = v.safeParse(inputSchema, parsed);
    if (!checked.success) return refuse(v.summarize(checked.issues));
    const input = checked.output;
    Object.freeze({ session, rendered, deadlineMs, tool });
    for (const policy of policies) {
      const { allowed, reason } = policy.check(tool, input, session);
      if (!allowed) return refuse(reason);
    }
    if (Date.now() >= deadlineMs) return refuse('deadline');
    const snapshot = session.state;
    let result: ReturnType<typeof refuse>;
    try {
      const value = await tool.run(input);
      result = { success: true, message: 'ok', value };
      const done = policies.map((policy) => policy.onResult(tool, input));
      if (done.some((key) => !session.state.done.has(key)))
        session.state = { ...session.state, done: new Set([...session.state.done, ...done]) };
    } catch (thrown) {
      session.state = snapshot;
      result = refuse(thrown instanceof Error ? thrown.message : String(thrown));
    }
    const text = JSON.stringify(result.value);
    const event = Object.freeze({ type: 'tool-invoked', name, input, result, text, atMs: Date.now() });
    const { log } = session.state;
    session.state = { ...session.state, log: { count: log.count + 1, event, tail: log } };
    return { ...result, text };
  }
  return async () => {
    const { success } = await execute(toolName, argumentsText);
    if (success === fails) throw new Error('the governed floor had an unexpected result');
    if (session.state.log.count > 1_000) session.state = { ...session.state, log: { count: 0 } };
  };
}
