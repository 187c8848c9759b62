import type { Tool } from '@holdfast/core';
import { toEnvironmentVariables } from '@holdfast/core/internal';
import type { GrantEnvironment } from '@holdfast/loader';
import type { EnvironmentRequest } from '@holdfast/loader/internal';
import type { Session } from '@holdfast/session';
import { findQuestionStream, type Host, type TakenStreams } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { readConsents, readGrantedVariables, rememberConsent } from '../user/config.ts';
import { askEnvironment } from './ask-environment.ts';
import type { ApprovalMode } from './choices.ts';

/** Access of tool files to environment variables. */
export interface EnvironmentConsent {
  readonly grant: GrantEnvironment;
  /** Granted values that may be secrets. */
  secrets(): readonly string[];
  /** Names of `--env` that no tool declared. */
  unused(): readonly string[];
}

export interface EnvironmentOptions {
  /** Names from `--env`, for every tool that declares them. */
  readonly names: readonly string[];
  /** Streams that are not available for questions; `undefined`: never ask. */
  readonly taken: TakenStreams | undefined;
}

/** The options of a run: asks only if calls are asked about. */
export function toEnvironmentOptions({
  environment,
  approval,
  json,
  quiet = false,
  stdinTaken,
}: {
  readonly environment: readonly string[];
  readonly approval: ApprovalMode | undefined;
  readonly json: boolean;
  readonly quiet?: boolean;
  readonly stdinTaken: boolean;
}): EnvironmentOptions {
  const taken = (approval ?? 'ask') === 'ask' ? { stdin: stdinTaken, stdout: json || quiet } : undefined;
  return { names: environment, taken };
}

/**
 * Consent comes from the command line, the user folder or the person at the terminal, never from a project.
 *
 * @throws HoldfastError `user_config.invalid`, `user_folder.unusable`.
 */
export async function openEnvironment({ names, taken }: EnvironmentOptions, host: Host): Promise<EnvironmentConsent> {
  const configured = await readGrantedVariables(host);
  const remembered = await readConsents(host);
  const output = taken === undefined ? undefined : findQuestionStream(host, taken);
  const secrets = new Set<string>();
  const unused = new Set(names);
  const isSet = (name: string): boolean => (host.environment[name] ?? '') !== '';

  // Asks only if a yes makes the tool work; otherwise the failed call says what to do.
  async function ask(request: EnvironmentRequest, granted: ReadonlySet<string>): Promise<boolean> {
    const { tool, digest, variables } = request;
    const required = variables.filter((variable) => variable.required);
    if (output === undefined || required.every(({ name }) => granted.has(name))) return false;
    if (!required.every(({ name }) => isSet(name))) return false;
    if (!(await askEnvironment(request, { output, isSet }, host))) return false;
    if (digest !== undefined) await rememberConsent({ tool, digest, names: variables.map(({ name }) => name) }, host);
    return true;
  }

  return {
    async grant(request) {
      const declared = request.variables.map(({ name }) => name);
      for (const name of declared) unused.delete(name);
      const known = remembered.find(({ tool, digest }) => tool === request.tool && digest === request.digest);
      const granted = new Set([...names, ...(configured.get(request.tool) ?? []), ...(known?.names ?? [])]);
      const all = await ask(request, granted);
      const values = declared
        .filter((name) => all || granted.has(name))
        .map((name): [string, string | undefined] => [name, host.environment[name]]);
      for (const [, value] of values) if (value !== undefined && isTelling(value)) secrets.add(value);
      return Object.fromEntries(values);
    },
    secrets: () => [...secrets],
    unused: () => [...unused],
  };
}

// Masking `eu` or `true` everywhere would only spoil the log.
function isTelling(value: string): boolean {
  return value.length >= 4 && !/^(?:true|false|null|none)$/i.test(value);
}

/** Warns about names of `--env` that no tool declared, such as typos. */
export function reportUnused(
  consent: Pick<EnvironmentConsent, 'unused'> | undefined,
  { stderr }: Pick<Host, 'stderr'>,
): void {
  for (const name of consent?.unused() ?? [])
    stderr.write(`warning: no tool file declares the environment variable \`${toPrintable(name)}\` of \`--env\`\n`);
}

/** Keeps granted values out of the session's log. */
export function learnGranted({ redactor }: Session, consent: Pick<EnvironmentConsent, 'secrets'> | undefined): void {
  for (const secret of consent?.secrets() ?? []) redactor?.learn(secret);
}

/** The outcome code of a call without a required variable. */
export const missingCode = 'tool.environment.missing';

/** Advice for tools whose calls failed with that code, one line each. */
export function describeMissing(failed: ReadonlySet<string>, tools: readonly Tool[]): readonly string[] {
  return tools
    .filter(({ name }) => failed.has(name))
    .map(({ name, environment = [] }) => {
      const variables = toEnvironmentVariables(environment);
      const list = variables.map((variable) => `${variable.name}${variable.required ? '' : ' (optional)'}`).join(', ');
      const options = variables.filter(({ required }) => required).map((variable) => `--env ${variable.name}`);
      return toPrintable(`\`${name}\` requires ${list}. Set them and add \`${options.join(' ')}\`.`);
    });
}
