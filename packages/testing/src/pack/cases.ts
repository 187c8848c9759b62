import { HoldfastError, type JsonObject, type Pack, type Policy } from '@holdfast/core';
import { isPack } from '@holdfast/core/internal';
import { every, packPolicies } from '@holdfast/policy';
import type { PolicyTesterOptions } from '../policy/cases.ts';

/** The required decisions of a pack's policies together. At least one case. */
export type PresetCases = Omit<PolicyTesterOptions, 'create'>;

/** Cases for options beyond the presets. */
export interface ConfigCases extends PresetCases {
  /** Prefix of the checks' names. */
  readonly title: string;
  /** Default `recommended`. */
  readonly preset?: string;
  /** Overrides options of the preset. */
  readonly config: JsonObject;
}

/** The cases of a pack. `holdfast pack check` reads them from the export `cases` of `cases.ts`. */
export interface PackCases {
  /**
   * Cases by preset, for each preset in force. A dry-run preset (`observe`) needs none: a check verifies that it allows every call of all
   * cases.
   */
  readonly presets: Readonly<Record<string, PresetCases>>;
  /** Cases for further options. Default: none. */
  readonly configs?: readonly ConfigCases[];
}

/** One choice of a pack's options, with its cases. */
export interface PackSuite {
  /** The preset, or the title of further options. */
  readonly title: string;
  readonly preset: string;
  readonly config: JsonObject;
  readonly cases: PresetCases;
  /** Default: the preset's choice. */
  readonly observe?: boolean;
}

/** @throws HoldfastError `options.invalid` for an invalid pack, unknown presets, and missing cases. */
export function toSuites(pack: Pack, cases: PackCases): readonly PackSuite[] {
  if (!isPack(pack)) throw invalid('Not a pack; create it with `definePack`.');
  const presets: unknown = cases?.presets;
  if (typeof presets !== 'object' || presets === null) throw invalid('Cases of a pack need `presets`.');
  const known = Object.keys(pack.presets).map((name) => `\`${name}\``);
  const suites = [
    ...Object.entries(cases.presets).map(([preset, its]) => ({ title: preset, preset, config: {}, cases: its })),
    ...(cases.configs ?? []).map((its) => {
      const { title, preset = 'recommended', config } = its;
      return { title, preset, config, cases: its };
    }),
  ];
  for (const { title, preset } of suites) {
    if (Object.hasOwn(pack.presets, preset)) continue;
    throw invalid(`The cases \`${title}\` have the unknown preset \`${preset}\`. Presets: ${known.join(', ')}.`);
  }
  return suites;
}

/** Creates the policies of a suite. */
export function suitePolicies(pack: Pack, { preset, config, observe }: PackSuite): readonly Policy[] {
  return packPolicies(pack, { preset, config, ...(observe === undefined ? {} : { observe }) });
}

/** The options for `policyTester`, with all policies of the suite combined. `watch` may replace each policy. */
export function toTesterOptions(
  pack: Pack,
  suite: PackSuite,
  watch: (policy: Policy) => Policy = (policy) => policy,
): PolicyTesterOptions {
  return { ...suite.cases, create: () => every(...suitePolicies(pack, suite).map(watch)) };
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('options.invalid', message);
}
