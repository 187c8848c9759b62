import type { Outcome, ToolCall } from '@holdfast/core';
import type { Unasked } from '../call/run-call.ts';
import type { CallOptions } from '../call/scope.ts';
import type { Suspended } from '../call/types.ts';
import { checkCall, executeIn } from '../direct/execute-tool-call.ts';
import { openScope } from '../direct/features.ts';

const unasked: Unasked = Object.freeze({ kind: 'unasked' });

/**
 * Decides a call before its turn, for a host that asks about several calls before the first one runs. A question or a refusal is recorded
 * as by `executeToolCall`; a call that is allowed is `unasked`.
 *
 * @throws HoldfastError as `executeToolCall`.
 */
export async function askToolCall(call: ToolCall, options: CallOptions): Promise<Outcome | Suspended | Unasked> {
  checkCall(call);
  const scope = openScope(options);
  try {
    return await executeIn(scope, call, { ahead: unasked });
  } finally {
    scope.lifetime.dispose();
  }
}
