import type { Pack } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import type { Claim } from './claims.ts';
import { readOptions } from './host-options.ts';
import type { RegisteredPack, UsePackOptions } from './registry.ts';
import { toProvenance } from './take-plugin.ts';

/** A pack that a host uses. */
export interface TakenPack {
  readonly type: 'pack';
  readonly registered: RegisteredPack;
  readonly claims: readonly Claim[];
}

/** @throws HoldfastError `registry.options.invalid`; as `packPolicies`. */
export function takePack(pack: Pack, options?: UsePackOptions): TakenPack {
  const known = ['preset', 'config', 'observe', 'id', 'source'] as const;
  const { source, ...packOptions } = readOptions('The options of a pack', options, known);
  const policies = Object.freeze([...packPolicies(pack, packOptions)]);
  const { name, version, presets } = pack;
  const { preset = 'recommended', id = name } = packOptions;
  const observe = packOptions.observe ?? presets[preset]?.observe ?? false;
  const provenance = toProvenance({ name, version }, source);
  const owner = `the pack \`${name}\` ${version}`;
  return {
    type: 'pack',
    registered: Object.freeze({ id, pack, preset, observe, policies, provenance }),
    claims: [
      { kind: 'pack', name: id, owner },
      { kind: 'pack-version', name, owner, value: `${name} ${version}` },
      ...policies.map((policy): Claim => ({ kind: 'policy', name: policy.id, owner })),
    ],
  };
}
