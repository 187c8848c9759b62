import { describeThrown, within } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import { readEffectCheck } from '../approval/answer.ts';
import { toDeadline } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';

const defaultTimeoutMs = 30_000;
const unknown: EffectCheck = { type: 'unknown' };

/** Asks the tool whether an earlier call took effect. Never rejects: an unclear answer is `unknown`. */
export async function probe({ call: { id, tool, input }, key, scope }: RunningCall): Promise<EffectCheck> {
  const { clock, lifetime } = scope;
  if (tool.probe === undefined) return unknown;
  const controller = new AbortController();
  const untilMs = Math.min(lifetime.deadline.atMs, clock.now() + (tool.timeoutMs ?? defaultTimeoutMs));
  const deadline = toDeadline(untilMs, clock);
  const over = (): EffectCheck => {
    controller.abort(new DOMException('The probe was stopped.', 'TimeoutError'));
    return { type: 'unknown', message: 'the probe did not finish in time' };
  };
  try {
    const context = Object.freeze({ callId: id, idempotencyKey: key, signal: controller.signal, deadline });
    const checked = Promise.resolve(tool.probe(input, context)).then(readEffectCheck);
    return await within(checked, { until: lifetime, limit: { clock, ms: deadline.remainingMs() }, over });
  } catch (thrown) {
    return { type: 'unknown', message: describeThrown(thrown) };
  }
}
