import { describeThrown } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import { readEffectCheck } from '../approval/answer.ts';
import type { RunningCall } from '../call/running-call.ts';

const defaultTimeoutMs = 30_000;
const unknown: EffectCheck = { type: 'unknown' };

/** Asks the tool whether an earlier call took effect. Never rejects: an unclear answer is `unknown`. */
export async function probe({ call: { id, tool, input }, key, scope }: RunningCall): Promise<EffectCheck> {
  const { clock, lifetime } = scope;
  if (tool.probe === undefined) return unknown;
  const controller = new AbortController();
  const untilMs = Math.min(lifetime.deadline.atMs, clock.now() + (tool.timeoutMs ?? defaultTimeoutMs));
  const deadline = Object.freeze({ atMs: untilMs, remainingMs: () => Math.max(0, untilMs - clock.now()) });
  const over = Promise.withResolvers<EffectCheck>();
  const stop = (): void => {
    controller.abort(new DOMException('The probe was stopped.', 'TimeoutError'));
    over.resolve({ type: 'unknown', message: 'the probe did not finish in time' });
  };
  const stopTimer = clock.after(Math.max(0, untilMs - clock.now()), stop);
  const stopListening = lifetime.onEnd(stop);
  try {
    const context = Object.freeze({ callId: id, idempotencyKey: key, signal: controller.signal, deadline });
    return await Promise.race([Promise.resolve(tool.probe(input, context)).then(readEffectCheck), over.promise]);
  } catch (thrown) {
    return { type: 'unknown', message: describeThrown(thrown) };
  } finally {
    stopTimer();
    stopListening();
  }
}
