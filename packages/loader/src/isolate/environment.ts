import { type EnvironmentVariable, type Problem, toEnvironmentVariables } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';

/** A tool file that asks for environment variables. */
export interface EnvironmentRequest {
  /** Name of the tool. */
  readonly tool: string;
  /** Relative to the tools folder. */
  readonly file: string;
  /**
   * Of everything that would see the values, in hexadecimal: the file, what it imports by path, and the versions of packages. Consent
   * can be remembered for it. `undefined`: what the tool imports cannot be followed.
   */
  readonly digest: string | undefined;
  readonly variables: readonly EnvironmentVariable[];
}

/**
 * The values that a tool may see, by name: asked once for each tool that declares any, when it is loaded. Names that the tool did not
 * declare count for nothing, and neither do empty values. `() => process.env` gives every tool what it declares.
 */
export type GrantEnvironment = (
  request: EnvironmentRequest,
) => Readonly<Record<string, string | undefined>> | Promise<Readonly<Record<string, string | undefined>>>;

/** Values by name. */
export type GrantedEnvironment = Readonly<Record<string, string>>;

/** What of the declared variables is granted. */
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

/** Why the tool cannot be called with what it was granted, or `undefined`. A model reads the message. */
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
  const message = `\`${name}\` was not given ${what} ${list}. Calling it again does not help: a person has to provide it.`;
  return { code: 'tool.environment.missing', message };
}

// What programs need to find others and to write times and texts as people here do; nothing that could be a secret.
const alwaysPassed = ['PATH', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot'];

/** The environment of a tool's process: what every tool gets, and what this one is granted. */
export function toolEnvironment(granted: GrantedEnvironment = {}): Record<string, string> {
  const environment: Record<string, string> = { ...granted };
  for (const name of alwaysPassed) {
    const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
