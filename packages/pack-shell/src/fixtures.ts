import { type Decision, defineTool, type Json, type Pack, type PolicyContext, type Tool } from '@holdfast/core';
import { type ShellGuardOptions, shellGuard } from './index.ts';

/** What the tests of this package stand on: the answer of the pack to a call. */

const tool: Tool = defineTool({ name: 'bash', description: 'Runs a command.' });

export function preset(name: 'recommended' | 'strict'): ShellGuardOptions {
  const { config } = (shellGuard as Pack).presets[name] ?? {};
  return (config ?? {}) as ShellGuardOptions;
}

/** Nothing is refused but what is named, and what nobody can know. */
export const lax: ShellGuardOptions = {
  unknown: 'allow',
  unclear: 'ask',
  writes: 'allow',
  deny: ['rm -r', 'git push'],
};

const context: PolicyContext = Object.freeze({
  state: undefined,
  session: { read: () => neverRead() },
  filesystem: undefined,
  deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
});

function neverRead(): never {
  throw new Error('no policy of this package reads the session');
}

/** The strictest answer of the policies, with all reasons. */
export async function decide(options: ShellGuardOptions, command: Json, called: Tool = tool): Promise<Decision> {
  return decideCall(options, { command }, called);
}

export async function decideCall(options: ShellGuardOptions, input: Json, called: Tool = tool): Promise<Decision> {
  const call = { id: 'c1', tool: called, input };
  const decisions: Decision[] = [];
  for (const policy of shellGuard.policies(options)) decisions.push(await policy.check(call, context));
  const [worst] = decisions.toSorted((one, other) => ranks.indexOf(one.type) - ranks.indexOf(other.type));
  if (worst === undefined || worst.type === 'allow') return worst ?? neverRead();
  const same = decisions.flatMap((decision) => (decision.type === worst.type ? [decision.reason] : []));
  return { type: worst.type, reason: same.join(' ') };
}

const ranks: readonly Decision['type'][] = ['deny', 'ask', 'allow'];
