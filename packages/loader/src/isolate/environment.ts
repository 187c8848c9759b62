import { type EnvironmentVariable, toEnvironmentVariables } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import type { PinnedTool } from '../language/types.ts';

/** A tool file that needs environment variables. */
export interface EnvironmentRequest {
  /** Name of the tool. */
  readonly tool: string;
  /** Relative to the tools folder. */
  readonly file: string;
  /**
   * Digest of all code that could see the values, in hexadecimal: the file, its path imports, and package versions.
   * Consent can be stored for it. `undefined`: the imports cannot be followed.
   */
  readonly digest: string | undefined;
  readonly variables: readonly EnvironmentVariable[];
}

/**
 * Returns the values that a tool may see, by name. Called once, on load, for each tool that declares variables.
 * Undeclared names and empty values are ignored. `() => process.env` grants every tool its declared variables.
 */
export type GrantEnvironment = (
  request: EnvironmentRequest,
) => Readonly<Record<string, string | undefined>> | Promise<Readonly<Record<string, string | undefined>>>;

/** Values by name. */
export type GrantedEnvironment = Readonly<Record<string, string>>;

/** The granted values of the declared variables. */
export async function askEnvironment(
  { file, metadata: { name, environment = [] } }: PinnedTool,
  digest: string | undefined,
  grant: GrantEnvironment,
): Promise<GrantedEnvironment> {
  const variables = toEnvironmentVariables(environment);
  const given = await grant({ tool: name, file, digest, variables });
  const granted = variables.map((variable): [string, unknown] => [
    variable.name,
    Object.hasOwn(given, variable.name) ? given[variable.name] : undefined,
  ]);
  return Object.fromEntries(
    granted.filter((one): one is [string, string] => typeof one[1] === 'string' && one[1] !== ''),
  );
}

/** The reason, for a model, why the tool lacks a required variable, or `undefined`. */
export function missingEnvironment(
  { metadata: { name, environment = [] } }: PinnedTool,
  granted: GrantedEnvironment,
): Problem | undefined {
  const names = toEnvironmentVariables(environment)
    .filter((variable) => variable.required && !Object.hasOwn(granted, variable.name))
    .map((variable) => variable.name);
  if (names.length === 0) return undefined;
  const list = names.map((one) => `\`${one}\``).join(', ');
  const what = names.length === 1 ? 'the environment variable' : 'the environment variables';
  const message = `\`${name}\` is missing ${what} ${list}. Calling it again does not help: a person has to provide it.`;
  return { code: 'tool.environment.missing', message };
}

// Variables needed to find programs and to format times and texts; none can hold a secret.
const alwaysPassed = ['PATH', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot'];

/** The environment of a tool's process: the common variables and those granted to it. */
export function toolEnvironment(granted: GrantedEnvironment = {}): Record<string, string> {
  const environment: Record<string, string> = { ...granted };
  for (const name of alwaysPassed) {
    const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
