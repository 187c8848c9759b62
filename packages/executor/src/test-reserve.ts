import { allow, definePolicy, type KeyedState, type Policy, upsert } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { shortKey } from './fixtures.ts';

/** Amounts spent by calls and reserved for calls in doubt: `amount` each, unless the input gives another. */
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

/** The state of `purse` in the session, under the host's key. */
export function purseOf(session: Session): Readonly<Record<string, unknown>> {
  const { slices } = session.export();
  const state = slices.find(({ id }) => id === 'policy:host/purse')?.state ?? [];
  return Object.fromEntries(state as [string, unknown][]);
}
