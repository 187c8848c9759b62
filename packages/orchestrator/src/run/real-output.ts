import type { Json } from '@holdfast/core';
import type { PlanTrace } from '../trace/trace.ts';

const outputs = new WeakMap<PlanTrace, Json>();

/** Traces are masked where the session has a redactor; tools that go on with what a plan came to need it as it is. */
export function rememberOutput(trace: PlanTrace, value: Json | undefined): void {
  if (trace.output !== undefined && value !== undefined) outputs.set(trace, value);
}

/** The value of the final node without masks, where it succeeded and `trace` is what its run has answered. */
export function realOutputOf(trace: PlanTrace): Json | undefined {
  return outputs.get(trace) ?? trace.output;
}
