import { isToolResult, type StandardSchema, type Tool, type ToolContext, type ToolResult } from '@holdfast/core';
import { createSession, type Session, type SessionTransaction } from '@holdfast/session';
import type { TodoPlan } from './plan.ts';
import { planSlice } from './plan-slice.ts';
import { planningTools } from './planning-tools.ts';

/** How a call of a test ended, with what a model would read of a success. */
export interface TestOutcome {
  readonly result: ToolResult;
  readonly rendered: string;
}

/** A call that has staged what it does, and has neither been committed nor dropped. */
export interface OpenCall extends TestOutcome {
  readonly transaction: SessionTransaction;
}

/** Runs one planning tool in a call of its own, as an executor would: commits a success, drops anything else. */
export function callTool(session: Session, name: string, input: unknown = {}): TestOutcome {
  const { result, rendered, transaction } = beginCall(session, name, input);
  if (result.success) commit(transaction);
  else transaction.discard();
  return { result, rendered };
}

export function beginCall(session: Session, name: string, input: unknown): OpenCall {
  const tool = planningTools().find((candidate) => candidate.name === name);
  if (tool?.execute === undefined) throw new Error(`There is no tool ${name}.`);
  const transaction = session.begin();
  const result = tool.execute(validate(tool.inputSchema, input), contextOf(transaction));
  if (!isToolResult(result)) throw new Error('A planning tool answers at once, with a tool result.');
  const rendered = result.success ? tool.renderResult?.(validate(tool.outputSchema, result.value)) : '';
  return { result, rendered: rendered ?? '', transaction };
}

export function commit(transaction: SessionTransaction): void {
  transaction.commit({ type: 'event', events: transaction.events.map((event) => ({ ...event })) });
}

/** A session with a plan of steps A, B, C and so on, of which those in `done` are. */
export function sessionWithPlan(steps: number, done: readonly number[] = []): Session {
  const session = createSession();
  const titles = Array.from({ length: steps }, (_, index) => String.fromCodePoint(65 + index));
  callTool(session, 'planning_setup_plan', { objective: 'Ship', initial_steps: titles });
  for (const id of done) callTool(session, 'planning_update_step', { step_id: id, status: 'done' });
  return session;
}

/** Of a session that has one. */
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
  throw new Error('Planning tools use nothing but the session.');
}

function validate(schema: Tool['inputSchema'], value: unknown): unknown {
  if (schema === undefined) return value;
  if (!isStandardSchema(schema)) throw new Error('Planning tools have valibot schemas.');
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new Error('Planning tools have schemas that answer at once.');
  if (result.issues !== undefined) throw new Error(result.issues.map(({ message }) => message).join('; '));
  return result.value;
}

function isStandardSchema(schema: NonNullable<Tool['inputSchema']>): schema is StandardSchema {
  return '~standard' in schema;
}
