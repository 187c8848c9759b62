import { HoldfastError, type ToolCallLateEvent } from '@holdfast/core';
import { copyJson, describeThrown, isToolResult } from '@holdfast/core/internal';
import type { LogEntry } from '@holdfast/session';
import { learnReturned, thrownCode } from '../call/ending.ts';
import { toAbortReason } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { Answer, LateStart } from '../call/types.ts';

/** Lets a tool that prepares say itself when it begins. `record` writes the start record; resolves when that is as durable as the log promises. */
export function startLater(call: RunningCall, record: () => Promise<void> | undefined): LateStart {
  return new Start(call, record);
}

/** The start of a call whose tool prepares: recorded once, when the tool says so, however many attempts there are. */
class Start implements LateStart {
  readonly #call: RunningCall;
  readonly #record: () => Promise<void> | undefined;
  #recorded: Promise<void> | undefined;

  /** @param record - writes the start record; resolves when that is as durable as the log promises. */
  constructor(call: RunningCall, record: () => Promise<void> | undefined) {
    this.#call = call;
    this.#record = record;
    call.preparing = true;
  }

  /** Rejects when the call has to stop, or cannot be recorded: then its tool must not begin. */
  async begin(call: RunningCall): Promise<void> {
    checkGoesOn(call);
    this.#recorded ??= this.#start();
    let stopListening: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      stopListening = call.onStop(() => resolve());
    });
    try {
      await Promise.race([this.#recorded, stopped]);
    } finally {
      stopListening();
    }
    checkGoesOn(call);
    this.#call.preparing = false;
    call.preparing = false;
  }

  async #start(): Promise<void> {
    let code = 'log.write_failed';
    try {
      const synced = this.#record();
      code = 'log.sync_failed';
      await synced;
    } catch (cause) {
      throw new HoldfastError(thrownCode(cause, code), describeThrown(cause), { cause });
    }
  }
}

/** @throws why the call has to stop. */
function checkGoesOn({ ended }: RunningCall): void {
  if (ended !== undefined) throw toAbortReason(ended);
}

/** Longest late value that is kept, in characters of its JSON. */
const maxLength = 65_536;

/** Writes down what an abandoned tool came to. Nobody waits for it, so nothing may be thrown here. */
export function recordLate(answer: Answer, { call, compiled, scope }: RunningCall): void {
  if (answer.type === 'returned') learnReturned(scope.session.redactor, compiled, answer.value);
  const event: ToolCallLateEvent = {
    type: 'tool-call-late',
    callId: call.id,
    name: call.tool.name,
    answer: answer.type,
    ...describe(answer),
    atMs: scope.clock.now(),
  };
  try {
    // Made of JSON; an interface does not say so to the compiler.
    scope.session.record(event as unknown as LogEntry);
  } catch (thrown) {
    // The session was closed or its log is broken: observers are the only ones left to tell.
    scope.emit?.({ ...event, message: `The log could not take this: ${describeThrown(thrown)}` });
    return;
  }
  scope.emit?.(event);
}

function describe(answer: Answer): Pick<ToolCallLateEvent, 'value' | 'message'> {
  if (answer.type === 'threw') return { message: describeThrown(answer.thrown) };
  try {
    const { value } = answer;
    if (!isToolResult(value)) return describeValue(value);
    const message = String(value.message);
    return { ...(message === '' ? {} : { message }), ...(value.value === null ? {} : describeValue(value.value)) };
  } catch (thrown) {
    // A result whose properties throw when they are read.
    return { message: `It cannot be read: ${describeThrown(thrown)}` };
  }
}

function describeValue(value: unknown): Pick<ToolCallLateEvent, 'value' | 'message'> {
  const copied = copyJson(value);
  if (!copied.ok) return { message: `Not JSON: ${copied.problem}.` };
  const { length } = JSON.stringify(copied.value);
  return length <= maxLength ? { value: copied.value } : { message: `Left out: ${length} characters of JSON.` };
}
