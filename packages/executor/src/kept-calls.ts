import type { CutReason, FinishReason } from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import { prepare } from './conduct-call.ts';
import { cutBy } from './cut-message.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { maxRefusedChars, omitArguments } from './omitted-arguments.ts';

/** What the log keeps of the calls of a message: not the long arguments of those that will be refused. `undefined`: all of it. */
export function keepLongCalls(
  calls: readonly IdentifiedCall[],
  reason: FinishReason | CutReason,
  scope: CallScope,
): readonly object[] | undefined {
  if (!calls.some(isLong)) return undefined;
  return calls.map((call) => {
    const { id, name, arguments: raw } = call;
    const refused = isLong(call) && (cutBy(reason) !== undefined || prepare(call, scope).type === 'ended');
    const { omitted } = (refused ? omitArguments(raw, scope) : undefined) ?? {};
    return omitted === undefined ? { id, name, arguments: raw } : { id, name, arguments: null, omitted };
  });
}

function isLong({ arguments: raw }: IdentifiedCall): boolean {
  return typeof raw === 'string' && raw.length > maxRefusedChars;
}
