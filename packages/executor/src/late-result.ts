import { copyJson, describeThrown, isToolResult, type ToolCallLateEvent } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { CallResources } from './call-resources.ts';
import type { Answer } from './invoke.ts';
import { learnReturned } from './secrets.ts';

/** Longest late value that is kept, in characters of its JSON. */
const maxLength = 65_536;

/** Writes down what an abandoned tool came to. Nobody waits for it, so nothing may be thrown here. */
export function recordLate(answer: Answer, { call, scope }: CallResources): void {
  const compiled = scope.toolset.byName.get(call.tool.name);
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
