import { HoldfastError, type JsonObject, type Pack, type Policy } from '@holdfast/core';
import { isPack } from '@holdfast/core/internal';
import { every, packPolicies } from '@holdfast/policy';
import type { PolicyTesterOptions } from '../policy/cases.ts';

/** What the policies of a pack, taken together, have to answer. At least one case. */
export type PresetCases = Omit<PolicyTesterOptions, 'create'>;

/** Cases of options that no preset has. */
export interface ConfigCases extends PresetCases {
  /** Stands before the names of the checks. */
  readonly title: string;
  /** Default `recommended`. */
  readonly preset?: string;
  /** Each takes the place of the preset's. */
  readonly config: JsonObject;
}

/** The cases of a pack: what `holdfast pack check` looks for in `cases.ts`, exported as `cases`. */
export interface PackCases {
  /**
   * By name, for each preset that is in force. One that is only tried out (`observe`) may go without: it is checked that it lets
   * through every call of all the cases.
   */
  readonly presets: Readonly<Record<string, PresetCases>>;
  /** Of further options. Default: none. */
  readonly configs?: readonly ConfigCases[];
}

/** One choice of options of a pack, and the cases that are tried with it. */
export interface PackSuite {
  /** The preset, or the title of further options. */
  readonly title: string;
  readonly preset: string;
  readonly config: JsonObject;
  readonly cases: PresetCases;
  /** Default: as the preset says. */
  readonly observe?: boolean;
}

/** @throws HoldfastError `options.invalid` for what is no pack, and for cases of a preset that there is not, or without cases. */
export function toSuites(pack: Pack, cases: PackCases): readonly PackSuite[] {
  if (!isPack(pack)) throw invalid('That is no pack: it has to be made by `definePack`.');
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
    throw invalid(`The cases \`${title}\` are of the preset \`${preset}\`: there are ${known.join(', ')}.`);
  }
  return suites;
}

/** New policies of a suite. */
export function suitePolicies(pack: Pack, { preset, config, observe }: PackSuite): readonly Policy[] {
  return packPolicies(pack, { preset, config, ...(observe === undefined ? {} : { observe }) });
}

/** What `policyTester` takes: all the policies of the suite as one. `watch` may take the place of each. */
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
