import type { Policy } from '@holdfast/core';

/** A copy of `policy` with other functions, and another id if given. */
export function replacePolicy<State>(
  policy: Policy<State>,
  {
    check,
    onResult,
    reserve,
    id = policy.id,
  }: Required<Pick<Policy<State>, 'check' | 'onResult' | 'reserve'>> & { readonly id?: string },
): Policy<State> {
  const { name, mentions, timed, countsFailures, state } = policy;
  return Object.freeze({
    name,
    id,
    mentions,
    ...(timed === true ? { timed } : {}),
    ...(countsFailures === true ? { countsFailures } : {}),
    state,
    check,
    ...(policy.onResult === undefined ? {} : { onResult }),
    ...(policy.reserve === undefined ? {} : { reserve }),
  });
}
