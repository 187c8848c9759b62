import { HoldfastError, isPlainObject, type Policy } from '@holdfast/core';
import { PolicyBinding } from './policy-state.ts';

const noPolicies: readonly PolicyBinding[] = [];
const hostPolicies = new WeakMap<readonly Policy[], readonly PolicyBinding[]>();

/** Gives the host's policies their keys, once for each list; one that was changed since is bound again. */
export function bindHostPolicies(policies: readonly Policy[] | undefined): readonly PolicyBinding[] {
  if (policies === undefined) return noPolicies;
  const known = hostPolicies.get(policies);
  if (known?.length === policies.length && known.every(({ policy }, at) => policy === policies[at])) return known;
  if (!policies.every(isPolicy)) {
    throw new HoldfastError('options.invalid', '`policies` must be a list of policies: make each by `definePolicy`.', {
      data: { option: 'policies', reason: 'kind' },
    });
  }
  const bound = policies.map((policy) => new PolicyBinding({ key: `host/${policy.id}`, policy }));
  hostPolicies.set(policies, bound);
  return bound;
}

function isPolicy(value: unknown): boolean {
  return isPlainObject(value) && typeof value['id'] === 'string' && typeof value['check'] === 'function';
}

/** The names of the tools that there are. */
export type ToolNames = { has(name: string): boolean };

const checked = new WeakMap<readonly PolicyBinding[], ToolNames>();

/** @throws HoldfastError `policy.key.duplicate`, `policy.tool.unknown`. */
export function checkPolicies(policies: readonly PolicyBinding[], names: ToolNames): void {
  if (checked.get(policies) === names) return;
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      throw new HoldfastError(
        'policy.key.duplicate',
        `Two policies have the key \`${key}\`; give one of them an \`id\`.`,
        {
          data: { key },
        },
      );
    }
    keys.add(key);
    const unknown = policy.tools.find((name) => !names.has(name));
    if (unknown !== undefined) {
      throw new HoldfastError(
        'policy.tool.unknown',
        `The policy \`${key}\` mentions \`${unknown}\`, which is no tool here.`,
        { data: { key, tool: unknown } },
      );
    }
  }
  checked.set(policies, names);
}

/** Those that want to know what comes of calls. */
export function observersOf(policies: readonly PolicyBinding[]): readonly PolicyBinding[] {
  return policies.every(observes) ? policies : policies.filter(observes);
}

function observes({ policy: { onResult, reserve } }: PolicyBinding): boolean {
  return onResult !== undefined || reserve !== undefined;
}

/** Whether every answer of `policies` follows from the call alone, as far as the runtime can know. */
export function areStateless(policies: readonly PolicyBinding[]): boolean {
  return !policies.some(keepsState);
}

/** In the session, or in itself. */
export function keepsState({ policy }: PolicyBinding): boolean {
  return policy.state !== undefined || policy.onResult !== undefined;
}
