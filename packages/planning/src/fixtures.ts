import type { StandardSchema, Tool, ToolContext, ToolResult } from '@holdfast/core';
import { isToolResult } from '@holdfast/core/internal';
import { createSession, type Session, type SessionTransaction } from '@holdfast/session';
import type { TodoPlan } from './plan.ts';
import { planSlice } from './plan-slice.ts';
import { planningTools } from './planning-tools.ts';

/** The outcome of one test call and the text a model would read after a success. */
export interface TestOutcome {
  readonly result: ToolResult;
  readonly rendered: string;
}

/** A call whose transaction has not been committed or discarded. */
export interface OpenCall extends TestOutcome {
  readonly transaction: SessionTransaction;
}

/** Runs one planning tool in its own call, as an executor would: commits a success and discards anything else. */
export function callTool(session: Session, name: string, input: unknown = {}): TestOutcome {
  const { result, rendered, transaction } = beginCall(session, name, input);
  if (result.success) commit(transaction);
  else transaction.discard();
  return { result, rendered };
}

export function beginCall(session: Session, name: string, input: unknown): OpenCall {
  const tool = planningTools().find((candidate) => candidate.name === name);
  if (tool?.execute === undefined) throw new Error(`Unknown tool ${name}.`);
  const transaction = session.begin();
  const result = tool.execute(validate(tool.inputSchema, input), contextOf(transaction));
  if (!isToolResult(result)) throw new Error('Planning tools must return a tool result synchronously.');
  const rendered = result.success ? tool.renderResult?.(validate(tool.outputSchema, result.value)) : '';
  return { result, rendered: rendered ?? '', transaction };
}

export function commit(transaction: SessionTransaction): void {
  transaction.commit({ type: 'event', events: transaction.events.map((event) => ({ ...event })) });
}

/** A session with a plan of steps A, B, C and so on; the steps in `done` are done. */
export function sessionWithPlan(steps: number, done: readonly number[] = []): Session {
  const session = createSession();
  const titles = Array.from({ length: steps }, (_, index) => String.fromCodePoint(65 + index));
  callTool(session, 'planning_setup_plan', { objective: 'Ship', initial_steps: titles });
  for (const id of done) callTool(session, 'planning_update_step', { step_id: id, status: 'done' });
  return session;
}

/** Throws if the session has no plan. */
export function planOf(session: Session): TodoPlan {
  const plan = session.read(planSlice);
  if (plan === null) throw new Error('The session has no plan.');
  return plan;
}

function contextOf(session: SessionTransaction): ToolContext {
  return {
    callId: 'c1',
    idempotencyKey: 'c1',
    signal: new AbortController().signal,
    deadline: { atMs: 1e9, remainingMs: () => 1e9 },
    session,
    resources: new Map(),
    filesystem: undefined,
    use: unused,
    call: unused,
    child: unused,
    budget: undefined,
    prompt: undefined,
    renderedPrompt: undefined,
    model: undefined,
    trace: undefined,
    progress: () => undefined,
    begin: async () => undefined,
    beat: () => undefined,
  };
}

function unused(): never {
  throw new Error('Planning tools must use only the session.');
}

function validate(schema: Tool['inputSchema'], value: unknown): unknown {
  if (schema === undefined) return value;
  if (!isStandardSchema(schema)) throw new Error('Planning tools must have Valibot schemas.');
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new Error('Planning tools must have synchronous schemas.');
  if (result.issues !== undefined) throw new Error(result.issues.map(({ message }) => message).join('; '));
  return result.value;
}

function isStandardSchema(schema: NonNullable<Tool['inputSchema']>): schema is StandardSchema {
  return '~standard' in schema;
}
