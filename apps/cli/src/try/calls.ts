import type { Json, JsonObject, Outcome, PendingApproval, Tool, ToolCallEndEvent } from '@holdfast/core';
import { type Approve, executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { findDifference, type JsonDifference } from './json-difference.ts';

type ToolExample = Tool['examples'][number];

/** A call to be made, and what it is made for. */
export interface PlannedCall {
  readonly purpose: 'example' | 'input' | 'repeat';
  /** JSON text as it was typed, else a value. */
  readonly arguments: unknown;
  /** What the call has to come to; `index` from 1. */
  readonly example?: { readonly index: number; readonly of: ToolExample };
}

/** A call that was made. */
export interface TriedCall extends PlannedCall {
  readonly end: ToolCallEndEvent;
  /** Where the value is not what the example says. */
  readonly mismatch: JsonDifference | undefined;
  /** Whether its time was over, and the time was not the tool's own but `try`'s. */
  readonly cutShort: boolean;
}

/** The same call made twice. */
export type Comparison =
  | { readonly type: 'same' }
  | { readonly type: 'different'; readonly at: JsonDifference }
  | { readonly type: 'not-made'; readonly reason: string };

/**
 * Each example once, and `input` or the first example twice, where that does no harm.
 *
 * @throws HoldfastError `usage.input_missing` when nothing says what to call the tool with.
 */
export function planCalls(tool: Tool, input: string | undefined): readonly PlannedCall[] {
  const examples = tool.examples.map(
    (of, index): PlannedCall => ({
      purpose: 'example',
      arguments: of.input,
      example: { index: index + 1, of },
    }),
  );
  const own: readonly PlannedCall[] =
    input !== undefined
      ? [{ purpose: 'input', arguments: input }]
      : examples.length === 0
        ? [{ purpose: 'input', arguments: findEmptyInput(tool) }]
        : [];
  const [subject] = own.length > 0 ? own : examples;
  const again: readonly PlannedCall[] =
    subject === undefined || !mayRepeat(tool) ? [] : [{ purpose: 'repeat', arguments: subject.arguments }];
  // The two that are compared stand beside each other.
  return own.length > 0 ? [...examples, ...own, ...again] : [...examples.slice(0, 1), ...again, ...examples.slice(1)];
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

/** What happens in files and state here is gone afterwards; the world is not. */
function mayRepeat({ effects, repeat }: Tool): boolean {
  return effects !== 'external' || repeat === 'safe';
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
      planned.example === undefined || outcome.kind !== 'ok'
        ? undefined
        : findDifference(outcome.value, toJson(planned.example.of.output)),
    cutShort: outcome.kind === 'timed-out' && (tool.timeoutMs ?? Number.POSITIVE_INFINITY) > timeoutMs,
  };
}

/** Compares the two calls that were made alike: how they ended, what they came to, what they wrote. */
export function compareCalls(tool: Tool, calls: readonly TriedCall[]): Comparison {
  const index = calls.findIndex(({ purpose }) => purpose === 'repeat');
  const [first, second] = [calls[index - 1], calls[index]];
  if (first === undefined || second === undefined) {
    const reason = mayRepeat(tool)
      ? 'the calls were broken off'
      : 'what it does outside cannot be undone, and the file does not say that it may be repeated';
    return { type: 'not-made', reason };
  }
  const at =
    findDifference(toResult(first.end.outcome), toResult(second.end.outcome), 'result') ??
    findDifference(toWrites(first.end), toWrites(second.end), 'files');
  return at === undefined ? { type: 'same' } : { type: 'different', at };
}

function toResult({ kind, code, message, value }: Outcome): Json {
  return { kind, code: code ?? null, message, value };
}

function toWrites({ writes }: ToolCallEndEvent): Json {
  return writes.map(({ key, change }) => `${change} ${key}`).sort();
}

// Read from a literal, and checked: it is JSON.
function toJson(value: unknown): Json {
  return value as Json;
}
