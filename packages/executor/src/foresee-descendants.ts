import type { ExpectedCall } from './foresee-watch.ts';

type Waiting = Pick<ExpectedCall, 'after'>;

/** As many calls as an integer has bits are followed in one pass. */
const bits = 32;
const maxPasses = 32;

/**
 * For each call, whether none of `members` can end before it begins: each of them is the call itself, or waits for it. Where more than
 * 1,024 members wait for no other one, that is said of no call.
 */
export function findFirst(calls: readonly Waiting[], members: readonly number[]): (call: number) => boolean {
  const foremost = findForemost(calls, members);
  if (foremost.length > bits * maxPasses) return () => false;
  let first: Uint8Array | undefined;
  for (let start = 0; start < foremost.length; start += bits) {
    const batch = foremost.slice(start, start + bits);
    const whole = batch.length === bits ? -1 : (1 << batch.length) - 1;
    const reached = new Int32Array(calls.length);
    for (const [bit, member] of batch.entries()) reached[member] = 1 << bit;
    // Whoever waits comes later, and has been counted.
    for (let call = calls.length - 1; call >= 0; call -= 1) {
      const mask = reached[call] ?? 0;
      if (mask !== 0) for (const before of calls[call]?.after ?? []) reached[before] = (reached[before] ?? 0) | mask;
    }
    const kept = first;
    first = Uint8Array.from(reached, (mask, call) => (mask === whole && kept?.[call] !== 0 ? 1 : 0));
    if (!first.includes(1)) return () => false;
  }
  return (call) => first?.[call] === 1;
}

/** The members that wait for no other: whoever comes before these comes before all. */
function findForemost(calls: readonly Waiting[], members: readonly number[]): readonly number[] {
  const isMember = new Set(members);
  const waits = new Uint8Array(calls.length);
  for (const [call, { after }] of calls.entries()) {
    if (after.some((before) => waits[before] === 1 || isMember.has(before))) waits[call] = 1;
  }
  return members.filter((member) => waits[member] === 0);
}
