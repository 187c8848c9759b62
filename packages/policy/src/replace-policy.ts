import type { Policy } from '@holdfast/core';

/** `policy` with other functions: its name, its id, the tools that it mentions and its state stay. */
export function replacePolicy<State>(
  policy: Policy<State>,
  { check, onResult }: Required<Pick<Policy<State>, 'check' | 'onResult'>>,
): Policy<State> {
  const { name, id, tools, state } = policy;
  return Object.freeze({ name, id, tools, state, check, ...(policy.onResult === undefined ? {} : { onResult }) });
}
