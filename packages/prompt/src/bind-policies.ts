import { type BoundPolicy, HoldfastError, type Policy } from '@holdfast/core';
import type { SectionTree } from './section-tree.ts';
import { reservedToolNames } from './visibility.ts';

/** Gives policies of one place the keys of their states. */
export function bindPolicies(place: string, policies: readonly Policy[]): readonly BoundPolicy[] {
  return Object.freeze(policies.map((policy) => Object.freeze({ key: `${place}/${policy.id}`, policy })));
}

/** @throws HoldfastError `policy.key.duplicate`, `policy.tool.unknown`. */
export function checkPolicies({ policies, tools, hasSummaries }: SectionTree): void {
  const keys = new Set<string>();
  for (const { key, policy } of policies) {
    if (keys.has(key)) {
      throw new HoldfastError('policy.key.duplicate', `Two policies are called \`${key}\`: give one another \`id\`.`, {
        data: { policy: key },
      });
    }
    keys.add(key);
    const unknown = policy.tools.filter((name) => !tools.has(name) && !(hasSummaries && reservedToolNames.has(name)));
    if (unknown.length > 0) {
      const list = unknown.map((name) => `\`${name}\``).join(', ');
      throw new HoldfastError(
        'policy.tool.unknown',
        `The policy \`${key}\` mentions ${list}, which no section offers.`,
        {
          data: { policy: key, tools: unknown },
        },
      );
    }
  }
}
