import { allow, definePolicy, defineTool, type Policy, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type Session } from '@holdfast/session';
import type { Subject } from '../compare.ts';
import { argumentsText, counted, inputSchema, lookUp, lookUpAndFail, toolDescription, toolName } from './work.ts';

export const callsPerSample = 1_000;

/** A tool, what a model sends for a call of it, and what governs the call. */
export interface Work {
  readonly tool: Tool;
  readonly argumentsText: string;
  createSession(): Session;
  createPolicies(): readonly Policy[];
}

export const lookingUp: Work = toWork(lookUp);
export const throwing: Work = toWork(lookUpAndFail);

function toWork(execute: typeof lookUp): Work {
  return {
    tool: defineTool({ name: toolName, description: toolDescription, inputSchema, effects: 'none', execute }),
    argumentsText,
    createSession,
    createPolicies: threePolicies,
  };
}

/** Two that only look at the call, and one that counts successes. */
function threePolicies(): readonly Policy[] {
  return [
    definePolicy({
      name: 'no-deploy',
      check: ({ tool }) => (tool.name === 'deploy' ? { type: 'deny', reason: 'No.' } : allow),
    }),
    definePolicy({
      name: 'no-write',
      check: ({ tool }) => (tool.name === 'write_file' ? { type: 'deny', reason: 'No.' } : allow),
    }),
    definePolicy({
      name: 'count',
      initialState: 0,
      check: () => allow,
      onResult: (_call, _result, { state }) => state + 1,
    }),
  ];
}

type Named = Pick<Subject, 'name' | 'against'>;

/** Makes sequential calls; fails unless all of them ran. */
export function calls(named: Named, call: () => Promise<void>): Subject {
  return { ...named, operations: callsPerSample, prepare: () => () => repeat(call) };
}

async function repeat(call: () => Promise<void>): Promise<void> {
  const before = counted.calls;
  for (let count = 0; count < callsPerSample; count += 1) await call();
  if (counted.calls !== before + callsPerSample) throw new Error('not every call has run');
}

interface Governed extends Named {
  /** Default `lookingUp`. */
  readonly work?: Work;
  /** The expected outcome of every call. Default `ok`. */
  readonly kind?: string;
  /** Number of other tools. Default 0. */
  readonly others?: number;
  /** Adds a listener. Default true. */
  readonly heard?: boolean;
}

/** Direct governed calls in a session of their own. */
export function governed({ work = lookingUp, kind = 'ok', others = 0, heard = true, ...named }: Governed): Subject {
  const tools = [
    work.tool,
    ...Array.from({ length: others }, (_, at) =>
      defineTool({ name: `other_${at}`, description: 'Another tool.', effects: 'none', execute: () => null }),
    ),
  ];
  return {
    ...named,
    operations: callsPerSample,
    prepare: () => prepareCalls({ work, tools, kind, heard }),
  };
}

interface Prepared {
  readonly work: Work;
  readonly tools: readonly Tool[];
  readonly kind: string;
  readonly heard: boolean;
}

/** Prepares the calls, untimed, and returns them. */
function prepareCalls({ work, tools, kind, heard }: Prepared): () => Promise<void> {
  let events = 0;
  const onEvent = (): void => {
    events += 1;
  };
  const call = { name: work.tool.name, arguments: work.argumentsText };
  const options = {
    tools,
    session: work.createSession(),
    policies: work.createPolicies(),
    ...(heard ? { onEvent } : {}),
  };
  return async () => {
    await repeat(async () => {
      const outcome = await executeToolCall(call, options);
      if (outcome.kind !== kind) throw new Error(`the call ended as \`${outcome.kind}\`, expected \`${kind}\``);
    });
    if (events !== (heard ? 2 * callsPerSample : 0)) throw new Error(`the listener heard of ${events} events`);
  };
}
