import type { JsonObject } from '@holdfast/core';
import type { PolicyTesterOptions } from './policy-tester.ts';

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
