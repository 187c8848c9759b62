import { allow, definePolicy, type KeyedState, type Policy, upsert } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { shortKey } from './fixtures.ts';

/** What calls have spent, and what those may have that are in doubt: `amount` each, unless they say another one. */
export function purse(amount = 5): Policy<KeyedState<number>> {
  return definePolicy<number>({
    name: 'purse',
    stateKind: 'keyed',
    check: () => allow,
    onResult: ({ input }, _result, { state }) => upsert('spent', (state.get('spent') ?? 0) + amountOf(input, amount)),
    reserve: ({ input }, { callKey }) => upsert(`doubt ${shortKey(callKey)}`, amountOf(input, amount)),
  });
}

function amountOf(input: unknown, usual: number): number {
  const { amount } = input as { readonly amount?: number };
  return amount ?? usual;
}

/** The state of `purse`, as the session has it under the host's key. */
export function purseOf(session: Session): Readonly<Record<string, unknown>> {
  const { slices } = session.export();
  const state = slices.find(({ id }) => id === 'policy:host/purse')?.state ?? [];
  return Object.fromEntries(state as [string, unknown][]);
}
