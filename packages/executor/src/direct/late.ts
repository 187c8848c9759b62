import { copyJson, describeThrown, isToolResult } from '@holdfast/core/internal';
import type { ToolCallLateEvent } from '@holdfast/core/types';
import type { LogEntry } from '@holdfast/session';
import { learnReturned } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { Answer } from '../call/types.ts';

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
