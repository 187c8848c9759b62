import { join } from 'node:path';
import { findToolNameProblem, findVariableProblem, HoldfastError, isPlainObject } from '@holdfast/core';
import * as v from 'valibot';
import type { Host } from './host.ts';
import { readUserFile, userFolder, writeUserFile } from './user-folder.ts';

type Home = Pick<Host, 'environment' | 'directory'>;

/** A tool version to which a person has granted environment variables. */
export interface RememberedConsent {
  readonly tool: string;
  /** Of everything that sees the values. */
  readonly digest: string;
  readonly names: readonly string[];
}

const configFile = 'config.json';
const consentFile = 'environment.json';

const variable = v.pipe(
  v.string(),
  v.check(
    (name) => findVariableProblem(name) === undefined,
    ({ input }) => findVariableProblem(input)?.message ?? '',
  ),
);
const toolName = v.pipe(
  v.string(),
  v.check(
    (name) => findToolNameProblem(name) === undefined,
    ({ input }) => findToolNameProblem(input)?.message ?? '',
  ),
);
const userConfig = v.strictObject({ environment: v.optional(v.record(toolName, v.array(variable)), {}) });
const consents = v.strictObject({
  consents: v.array(
    v.strictObject({ tool: toolName, digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)), names: v.array(variable) }),
  ),
});

/**
 * The environment variables that the user's own configuration grants, by tool name.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.unreadable`.
 */
export async function readGrantedVariables(home: Home): Promise<ReadonlyMap<string, readonly string[]>> {
  const { environment } = (await readJson(configFile, userConfig, home)) ?? { environment: {} };
  return new Map(Object.entries(environment));
}

/** @throws HoldfastError `user_config.invalid`, `user_folder.unreadable`. */
export async function readConsents(home: Home): Promise<readonly RememberedConsent[]> {
  return (await readJson(consentFile, consents, home))?.consents ?? [];
}

/** Remembers a consent in place of an earlier one for the same digest. @throws as `readConsents`, and `user_folder.unwritable`. */
export async function rememberConsent(consent: RememberedConsent, home: Home): Promise<void> {
  const others = (await readConsents(home)).filter(({ digest }) => digest !== consent.digest);
  await writeUserFile(consentFile, `${JSON.stringify({ consents: [...others, consent] }, undefined, 2)}\n`, home);
}

async function readJson<Value>(
  name: string,
  schema: v.GenericSchema<unknown, Value>,
  home: Home,
): Promise<Value | undefined> {
  const text = await readUserFile(name, home);
  if (text === undefined) return undefined;
  const path = join(userFolder(home), name);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, 'it is not JSON', cause);
  }
  if (!isPlainObject(json)) throw invalid(path, 'it must hold a JSON object');
  const parsed = v.safeParse(schema, json);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  throw invalid(path, `${place === null ? '' : `\`${place}\`: `}${issue.message}`);
}

function invalid(path: string, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError('user_config.invalid', `\`${path}\` cannot be used: ${problem}.`, {
    data: { path, hint: 'Correct it, or remove it.' },
    cause,
  });
}
