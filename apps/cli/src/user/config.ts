import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findToolNameProblem, findVariableProblem, isPlainObject } from '@holdfast/core/internal';
import * as v from 'valibot';
import { type OfferedProvider, offeredProviders } from '../models/provider-keys.ts';
import type { Host } from '../terminal/host.ts';
import { readUserFile, userFolder, writeUserFile } from './folder.ts';

type Home = Pick<Host, 'environment' | 'directory'>;

/** A tool version for which a person has granted environment variables. */
export interface RememberedConsent {
  readonly tool: string;
  /** The digest of all code that sees the values. */
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
const userConfig = v.strictObject({
  environment: v.optional(v.record(toolName, v.array(variable)), {}),
  models: v.optional(v.record(v.picklist(offeredProviders), v.boolean()), {}),
});
const consents = v.strictObject({
  consents: v.array(
    v.strictObject({ tool: toolName, digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)), names: v.array(variable) }),
  ),
});

/**
 * The environment variables granted by the user's own configuration, by tool name.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.unusable`.
 */
export async function readGrantedVariables(home: Home): Promise<ReadonlyMap<string, readonly string[]>> {
  const { environment } = (await readJson(configFile, userConfig, home)) ?? { environment: {} };
  return new Map(Object.entries(environment));
}

/**
 * The user's answers about models of providers for runs without `--model`; unanswered ones are missing.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.unusable`.
 */
export async function readModelAnswers(home: Home): Promise<ReadonlyMap<OfferedProvider, boolean>> {
  const models: Partial<Record<OfferedProvider, boolean>> =
    (await readJson(configFile, userConfig, home))?.models ?? {};
  return new Map(
    offeredProviders.flatMap((provider) => {
      const answer = models[provider];
      return answer === undefined ? [] : [[provider, answer] as const];
    }),
  );
}

/** Stores answers in the user's configuration. @throws as `readModelAnswers`, and `user_folder.unusable`. */
export async function rememberModelAnswers(answers: ReadonlyMap<OfferedProvider, boolean>, home: Home): Promise<void> {
  const config = (await readJson(configFile, userConfig, home)) ?? {};
  const models = Object.fromEntries([...(await readModelAnswers(home)), ...answers]);
  await writeUserFile(configFile, `${JSON.stringify({ ...config, models }, undefined, 2)}\n`, home);
}

/** @throws HoldfastError `user_config.invalid`, `user_folder.unusable`. */
export async function readConsents(home: Home): Promise<readonly RememberedConsent[]> {
  return (await readJson(consentFile, consents, home))?.consents ?? [];
}

/** Stores a consent, replacing an earlier one for the same digest. @throws as `readConsents`, and `user_folder.unusable`. */
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
    throw invalid(path, 'not valid JSON', cause);
  }
  if (!isPlainObject(json)) throw invalid(path, 'expected a JSON object');
  const parsed = v.safeParse(schema, json);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  throw invalid(path, `${place === null ? '' : `\`${place}\`: `}${issue.message}`);
}

function invalid(path: string, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError('user_config.invalid', `Invalid user configuration \`${path}\`: ${problem}.`, {
    data: { path, hint: 'Fix or delete the file.' },
    cause,
  });
}
