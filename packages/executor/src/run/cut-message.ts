import type { FinishReason } from '@holdfast/core';
import type { CutReason } from '@holdfast/core/types';
import { failure, maxRefusedChars, omitArguments } from '../call/ending.ts';
import { prepare } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall } from '../call/types.ts';

/** Why a message was cut; `undefined` for a complete one. */
export function cutBy(reason: FinishReason | CutReason): CutReason | undefined {
  switch (reason) {
    case 'length':
    case 'content-filter':
    case 'no-finish':
      return reason;
    default:
      return undefined;
  }
}

const causes: Readonly<Record<CutReason, string>> = {
  length: "it reached the model's output limit",
  'content-filter': 'the provider filtered it',
  'no-finish': "the model's stream broke off",
};

/** Tells people that the last message of a run is incomplete. */
export function describeCut(reason: CutReason): string {
  return `The last message was cut off, because ${causes[reason]} (\`${reason}\`).`;
}

/** The ending of every call in a cut message; the last may have incomplete arguments. `undefined` for a complete message. */
export function refuseCut(reason: FinishReason | CutReason): ((call: IdentifiedCall) => Ending) | undefined {
  const cut = cutBy(reason);
  if (cut === undefined) return undefined;
  const advice = cut === 'length' ? 'Send it again, shorter.' : 'Send it again if you still need it.';
  return ({ name }) => {
    const message = `\`${name}\` was not run: the message that asked for it was cut off, because ${causes[cut]}. ${advice}`;
    return failure('truncated', { code: 'call.truncated', message });
  };
}

/** The calls as logged, without long arguments that will be refused. `undefined`: all of them. */
export function keepLongCalls(
  calls: readonly IdentifiedCall[],
  reason: FinishReason | CutReason,
  scope: CallScope,
): readonly object[] | undefined {
  if (!calls.some(isLong)) return undefined;
  return calls.map((call) => {
    const { id, name, arguments: raw } = call;
    const refused = isLong(call) && (cutBy(reason) !== undefined || prepare(call, scope).type === 'ended');
    const { omitted } = (refused ? omitArguments(raw, scope.session.redactor) : undefined) ?? {};
    return omitted === undefined ? { id, name, arguments: raw } : { id, name, arguments: null, omitted };
  });
}

function isLong({ arguments: raw }: IdentifiedCall): boolean {
  return typeof raw === 'string' && raw.length > maxRefusedChars;
}
