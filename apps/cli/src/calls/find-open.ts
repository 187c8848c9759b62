import { formatCount } from '@holdfast/orchestrator/text';
import { usageError } from '../terminal/failure.ts';
import { toPrintable } from '../terminal/text.ts';
import { findNearest, matchCallId, quoteIds } from './ids.ts';

export interface CallSearch {
  readonly session: string;
  /** The state that the call must have, for the message: `pending`. */
  readonly what: string;
  /** The command that lists them. */
  readonly listing: string;
}

/**
 * The calls whose id is `given`, in full, as printed, or as a prefix. Searches `others` only if none of `calls` match.
 *
 * @throws HoldfastError `usage.invalid` (`call_unknown` with the nearest ids, `call_ambiguous`).
 */
export function findOpenCall<Call extends { readonly callId: string }>(
  given: string,
  calls: readonly Call[],
  { session, what, listing, others = [] }: CallSearch & { readonly others?: readonly Call[] },
): readonly Call[] {
  const ids = [...new Set(calls.map(({ callId }) => callId))];
  const meant = findIds(given, ids);
  const [only, ...more] = meant;
  if (only === undefined) {
    const other = others.map(({ callId }) => callId);
    if (findIds(given, [...new Set(other)]).length > 0) return findOpenCall(given, others, { session, what, listing });
    const nearest = findNearest(given, ids);
    const help = nearest.length === 0 ? '' : ` Nearest: ${quoteIds(nearest)}.`;
    throw usageError(
      'call_unknown',
      `No ${what} call \`${given}\` in session \`${session}\`.${help} Run \`${listing}\` for a list.`,
    );
  }
  if (more.length > 0) {
    throw usageError(
      'call_ambiguous',
      `\`${given}\` matches ${formatCount(meant.length, 'call')} of session \`${session}\`: ${quoteIds(meant.slice(0, 5))}${meant.length > 5 ? ', …' : ''}. Use a longer prefix.`,
    );
  }
  return calls.filter(({ callId }) => callId === only);
}

/** Matches ids as stored or as printed. */
function findIds(given: string, ids: readonly string[]): readonly string[] {
  const direct = matchCallId(given, ids);
  if (direct.length > 0) return direct;
  const printed = new Map(ids.map((id) => [id, toPrintable(id)]));
  const exact = ids.filter((id) => printed.get(id) === given);
  return exact.length > 0 ? exact : ids.filter((id) => printed.get(id)?.startsWith(given));
}
