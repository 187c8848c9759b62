import type { Policy } from '@holdfast/core';
import { allowTools, denyTools } from '@holdfast/policy';
import type { ConfigOrigin } from './config.ts';
import type { EffectiveConfig } from './effective-config.ts';

/** A name in a list of tools that no tool has. */
export interface UnknownToolName {
  readonly key: 'allowTools' | 'denyTools';
  readonly name: string;
  readonly origin: ConfigOrigin;
}

export interface ConfigPolicies {
  /** By the ids `config-allow-tools`, `config-host-deny-tools` and so on, so that a denial says whose it is. */
  readonly policies: readonly Policy[];
  /** A misspelt name in `denyTools` denies nothing: a host wants to hear of these. */
  readonly unknown: readonly UnknownToolName[];
}

/** The lists of tools as policies. `toolNames` are those of the run: what else is listed has nothing to apply to. */
export function configPolicies(
  { allowTools: allowed, denyTools: denied }: Pick<EffectiveConfig, 'allowTools' | 'denyTools'>,
  toolNames: Iterable<string>,
): ConfigPolicies {
  const known = new Set(toolNames);
  const byLayer = Map.groupBy(
    denied.filter(({ value }) => known.has(value)),
    ({ origin }) => origin.layer,
  );
  const denying = [...byLayer].map(([layer, names]) =>
    denyTools(
      names.map(({ value }) => value),
      { id: `config-${layer.replaceAll(' ', '-')}-deny-tools` },
    ),
  );
  const allowing =
    allowed === undefined
      ? []
      : [
          allowTools(
            allowed.value.filter((name) => known.has(name)),
            { id: 'config-allow-tools' },
          ),
        ];
  const [allowOrigin] = allowed?.origins ?? [];
  const listed = [
    ...(allowed?.value ?? []).map((name) => ({ key: 'allowTools' as const, name, origin: allowOrigin })),
    ...denied.map(({ value, origin }) => ({ key: 'denyTools' as const, name: value, origin })),
  ];
  const unknown = listed.flatMap(({ origin, ...rest }) =>
    origin === undefined || known.has(rest.name) ? [] : [{ ...rest, origin }],
  );
  return { policies: [...denying, ...allowing], unknown };
}
