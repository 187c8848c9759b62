import { HoldfastError } from '@holdfast/core';
import { copyJson, describeThrown, isToolResult, toProblem, toReason, within } from '@holdfast/core/internal';
import type { ToolCallLateEvent } from '@holdfast/core/types';
import type { LogEntry } from '@holdfast/session';
import { learnReturned } from '../call/ending.ts';
import { toAbortReason } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { Answer, LateStart } from '../call/types.ts';

/** The start of a call whose tool prepares: recorded once, when the tool begins, however many attempts there are. */
export class PreparedStart implements LateStart {
  readonly #call: RunningCall;
  readonly #record: () => Promise<void> | undefined;
  #recorded: Promise<void> | undefined;

  /** @param record - writes the start record and resolves once it is durable. */
  constructor(call: RunningCall, record: () => Promise<void> | undefined) {
    this.#call = call;
    this.#record = record;
    call.preparing = true;
  }

  /** Rejects if the call must stop or cannot be recorded: then its tool must not begin. */
  async begin(call: RunningCall): Promise<void> {
    checkGoesOn(call);
    this.#recorded ??= this.#start();
    await within(this.#recorded, { until: { onEnd: (stop) => call.onStop(stop) }, over: () => undefined });
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
      const problem = toProblem(cause, { code });
      throw new HoldfastError(problem.code, problem.message, { data: toReason(problem), cause });
    }
  }
}

/** @throws the reason why the call must stop. */
function checkGoesOn({ ended }: RunningCall): void {
  if (ended !== undefined) throw toAbortReason(ended);
}

/** Longer late values are not kept; in characters of JSON. */
const maxLength = 65_536;

/** Records the late result of an abandoned tool. Not awaited, so it must not throw. */
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
    // JSON by construction; TypeScript cannot see that of an interface.
    scope.session.record(event as unknown as LogEntry);
  } catch (thrown) {
    // The session is closed or its log is broken; only observers can be told.
    scope.emit?.({ ...event, message: `Could not be logged: ${describeThrown(thrown)}` });
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
    // The result has throwing getters.
    return { message: `Unreadable: ${describeThrown(thrown)}` };
  }
}

function describeValue(value: unknown): Pick<ToolCallLateEvent, 'value' | 'message'> {
  const copied = copyJson(value);
  if (!copied.ok) return { message: `Not JSON: ${copied.problem}.` };
  const { length } = JSON.stringify(copied.value);
  return length <= maxLength ? { value: copied.value } : { message: `Left out: ${length} characters of JSON.` };
}
