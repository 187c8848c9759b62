import { copyJson, describeThrown, type EffectCheck, type PreparedCall } from '@holdfast/core';
import type { CallScope } from './call-scope.ts';

const defaultTimeoutMs = 30_000;
const unknown: EffectCheck = { type: 'unknown' };

/** Asks the tool whether an earlier call of it took effect. Never rejects: what gives no clear answer is `unknown`. */
export async function probe(
  { id, tool, input }: PreparedCall,
  idempotencyKey: string,
  { clock, lifetime }: CallScope,
): Promise<EffectCheck> {
  if (tool.probe === undefined) return unknown;
  const controller = new AbortController();
  const untilMs = Math.min(lifetime.deadline.atMs, clock.now() + (tool.timeoutMs ?? defaultTimeoutMs));
  const deadline = Object.freeze({ atMs: untilMs, remainingMs: () => Math.max(0, untilMs - clock.now()) });
  const over = Promise.withResolvers<EffectCheck>();
  const stop = (): void => {
    controller.abort(new DOMException('The probe was stopped.', 'TimeoutError'));
    over.resolve({ type: 'unknown', message: 'it could not be found out in time' });
  };
  const stopTimer = clock.after(Math.max(0, untilMs - clock.now()), stop);
  const stopListening = lifetime.onEnd(stop);
  try {
    const context = Object.freeze({ callId: id, idempotencyKey, signal: controller.signal, deadline });
    return await Promise.race([Promise.resolve(tool.probe(input, context)).then(readEffectCheck), over.promise]);
  } catch (thrown) {
    return { type: 'unknown', message: describeThrown(thrown) };
  } finally {
    stopTimer();
    stopListening();
  }
}

/** Only a plain `done` or `not-done` counts. */
export function readEffectCheck(answer: unknown): EffectCheck {
  if (typeof answer !== 'object' || answer === null || !('type' in answer)) return unknown;
  const { type } = answer;
  const said: unknown = 'message' in answer ? answer.message : undefined;
  const message = typeof said === 'string' && said !== '' ? { message: said } : {};
  if (type === 'not-done') return { type, ...message };
  if (type !== 'done') return { ...unknown, ...message };
  const value = copyJson('value' in answer ? (answer.value ?? null) : null);
  return value.ok ? { type, value: value.value, ...message } : { ...unknown, message: 'its value is not JSON' };
}
