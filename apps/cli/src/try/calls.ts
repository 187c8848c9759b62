import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, PendingApproval, Tool, ToolCallEndEvent } from '@holdfast/core';
import { type Approve, executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';

type ToolExample = Tool['examples'][number];

/** A call to make, and its purpose. */
export interface PlannedCall {
  readonly purpose: 'example' | 'input';
  /** JSON text as typed, or a value. */
  readonly arguments: unknown;
  /** The expected result; `index` from 1. */
  readonly example?: { readonly index: number; readonly of: ToolExample };
}

/** A call that was made. */
export interface TriedCall extends PlannedCall {
  readonly end: ToolCallEndEvent;
  /** True if the value differs from the example. */
  readonly mismatch: boolean;
  /** True if the limit of `try`, not the tool's own, ended the call. */
  readonly cutShort: boolean;
}

/**
 * All examples, and `input`; without either, a call without arguments.
 *
 * @throws HoldfastError `usage.invalid` (`input_missing`) if the tool requires arguments and there are none.
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
    'input_missing',
    `\`${name}\` requires arguments: pass them as JSON with \`--input\`, or add an example to the file.`,
  );
}

export interface TryCallOptions {
  readonly tool: Tool;
  /** Creates the same files for each call. */
  createFilesystem(): unknown;
  /** `undefined`: nobody can be asked. */
  readonly approve: ((pending: PendingApproval) => ReturnType<Approve>) | undefined;
  /** True if the tool may be called without asking. */
  readonly allowed: boolean;
  /** The time limit per call, unless the tool's own is lower. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Host['clock'];
}

/** Makes one call in its own session, on the regular call path. */
export async function makeCall(planned: PlannedCall, options: TryCallOptions): Promise<TriedCall> {
  const { tool, approve, allowed, timeoutMs, signal, clock } = options;
  const session = createSession({ clock });
  let end: ToolCallEndEvent | undefined;
  // The limit starts with the tool, so a person may take any time to answer.
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
  // With an answer or `unattended`, a call cannot be suspended.
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
