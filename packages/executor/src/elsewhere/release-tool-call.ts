import type { Outcome, ToolCall } from '@holdfast/core';
import { toProblem } from '@holdfast/core/internal';
import { failure } from '../call/ending.ts';
import { endUnentered, type Released } from '../call/run-call.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallOptions } from '../call/scope.ts';
import type { Suspended } from '../call/types.ts';
import { checkCall, executeIn } from '../direct/execute-tool-call.ts';
import { openScope } from '../direct/features.ts';
import { leaveReserved } from '../nested/reservations.ts';
import { resumeIn } from '../recovery/resume-tool-call.ts';

/**
 * Decides a call whose body runs elsewhere: parse, policies, approval, start record. Its tool is declared without `execute`,
 * with `effects: 'external'` and `repeat: 'never'`. `call`: the call, or the id of a suspended one.
 *
 * @throws HoldfastError as `executeToolCall` and `resumeToolCall`.
 */
export async function releaseToolCall(
  call: ToolCall | string,
  options: CallOptions,
): Promise<Outcome | Suspended | Released> {
  if (typeof call !== 'string') checkCall(call);
  const scope = openScope(options);
  try {
    return await (typeof call === 'string'
      ? resumeIn(scope, call, release)
      : executeIn(scope, call, { elsewhere: release }));
  } finally {
    scope.lifetime.dispose();
  }
}

/** Stops once the start record is durable. */
async function release(call: RunningCall): Promise<Outcome | Released> {
  const { tool } = call.call;
  if (tool.effects !== 'external' || tool.repeat === 'safe' || tool.prepares) {
    const message = `\`${tool.name}\` cannot run elsewhere: it needs \`effects: 'external'\` and \`repeat: 'never'\`.`;
    return endUnentered(failure('failed', { code: 'tool.not_executable', reason: 'release', message }), call);
  }
  try {
    await call.scope.rootSession.sync();
    leaveReserved(call);
    return Object.freeze({ kind: 'released' });
  } catch (thrown) {
    return endUnentered(failure('failed', toProblem(thrown, { code: 'log.broken', reason: 'sync' }), { thrown }), call);
  }
}
