import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, PendingApproval, Tool, ToolCallEndEvent } from '@holdfast/core';
import { type Approve, executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

type ToolExample = Tool['examples'][number];

/** A call to be made, and what it is made for. */
export interface PlannedCall {
  readonly purpose: 'example' | 'input';
  /** JSON text as it was typed, else a value. */
  readonly arguments: unknown;
  /** What the call has to come to; `index` from 1. */
  readonly example?: { readonly index: number; readonly of: ToolExample };
}

/** A call that was made. */
export interface TriedCall extends PlannedCall {
  readonly end: ToolCallEndEvent;
  /** Whether the value is not what the example says. */
  readonly mismatch: boolean;
  /** Whether its time was over, and the time was not the tool's own but `try`'s. */
  readonly cutShort: boolean;
}

/**
 * Each example, and `input`; without either a call with no arguments.
 *
 * @throws HoldfastError `usage.input_missing` when nothing says what to call the tool with.
 */
export function planCalls(tool: Tool, input: string | undefined): readonly PlannedCall[] {
  const examples = tool.examples.map(
    (of, index): PlannedCall => ({ purpose: 'example', arguments: of.input, example: { index: index + 1, of } }),
  );
  if (input === undefined && examples.length > 0) return examples;
  return [...examples, { purpose: 'input', arguments: input ?? findEmptyInput(tool) }];
}

function findEmptyInput({ name, inputSchema }: Tool): JsonObject {
  if (inputSchema === undefined) return {};
  const required: unknown = 'schema' in inputSchema ? inputSchema.schema['required'] : undefined;
  if (required === undefined || (Array.isArray(required) && required.length === 0)) return {};
  throw usageError(
    'usage.input_missing',
    `Nothing says what to call \`${name}\` with: give it \`--input\` with its arguments as JSON, or give the file an example.`,
  );
}

export interface TryCallOptions {
  readonly tool: Tool;
  /** As the call finds them, whatever calls before it did. */
  createFilesystem(): unknown;
  /** `undefined`: nobody is there to be asked. */
  readonly approve: ((pending: PendingApproval) => ReturnType<Approve>) | undefined;
  /** Whether the tool may be called without asking. */
  readonly allowed: boolean;
  /** The longest that a call may take, where the tool does not say less. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Host['clock'];
}

/** Makes one call in a session of its own, on the path of every other call. */
export async function makeCall(planned: PlannedCall, options: TryCallOptions): Promise<TriedCall> {
  const { tool, approve, allowed, timeoutMs, signal, clock } = options;
  const session = createSession({ clock });
  let end: ToolCallEndEvent | undefined;
  // Time that counts from when the tool begins: a person may think as long as it takes.
  const timed: Tool = { ...tool, timeoutMs: Math.min(tool.timeoutMs ?? timeoutMs, timeoutMs) };
  const outcome = await executeToolCall(
    { name: tool.name, arguments: planned.arguments },
    {
      tools: [timed],
      session,
      resources: { filesystem: options.createFilesystem() },
      ...(allowed ? { grants: [tool.name] } : {}),
      ...(approve === undefined ? { unattended: true } : { approve }),
      signal,
      clock,
      onEvent(event) {
        if (event.type === 'tool-call-end' && event.parentId === undefined) end = event;
      },
    },
  );
  await session.close();
  // Somebody has answered, or nobody was there to be asked: nothing is left to wait for.
  if (end === undefined || outcome.kind === 'suspended') throw new Error(`The call of \`${tool.name}\` has no end.`);
  return {
    ...planned,
    end,
    mismatch:
      planned.example !== undefined &&
      outcome.kind === 'ok' &&
      !isDeepStrictEqual(outcome.value, planned.example.of.output),
    cutShort: outcome.kind === 'timed-out' && (tool.timeoutMs ?? Number.POSITIVE_INFINITY) > timeoutMs,
  };
}
