// Shared by the programs: two tools, a guard with two rules, and the calls of the model.
import { createGuard } from '@holdfast/guard';
import { requireApproval, sequentialDependency } from '@holdfast/policy';
import { createSession } from '@holdfast/session';

export interface Order {
  readonly order: number;
}

export function openDesk() {
  const refunds: number[] = [];
  const policies = [sequentialDependency({ refund: ['look_up'] }), requireApproval({ tools: ['refund'] })];
  // A message each; then the model says "Done.".
  const calls = ['refund', 'look_up', 'refund'].map((name, index) => ({ id: `call-${index + 1}`, name }));
  return {
    refunds,
    guard: createGuard({ session: createSession(), policies }),
    lookUp: ({ order }: Order) => ({ order, euros: 250 }),
    refund: ({ order }: Order) => ({ refunded: refunds.push(order) }),
    /** The next call of the model; `undefined`: it is done. */
    nextCall: () => calls.shift(),
  };
}
