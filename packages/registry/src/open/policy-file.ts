import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { FactRules, RuleLines } from '@holdfast/facts/rules';
import type { ConfigLayer } from '../config/config.ts';
import { type CheckedConfig, checkUserRules, checkWorkspaceConfig, invalidConfig } from '../config/schema.ts';
import { describePlace, parsePolicyText, type TextPlace } from './policy-text.ts';
import { decodeText, readSmallFile, showFile } from './small-file.ts';

const fileNames = ['holdfast.policy.json', 'holdfast.policy.yaml', 'holdfast.policy.yml'] as const;
/** Parsing hostile YAML takes time that grows with the square of its length. */
const maxYamlBytes = 32_768;

/**
 * Reads the workspace's own configuration, plain data. `undefined` if the file does not exist; an unreadable file is an error, because it
 * may deny something.
 *
 * @throws HoldfastError `config.invalid`.
 */
export async function readWorkspaceConfig(workspace: string, directory: string): Promise<ConfigLayer | undefined> {
  const found = await readPolicyFile(workspace, {
    show: (name) => showFile(join(workspace, name), directory),
    whose: ' of the workspace',
    followLink: false,
    check: checkWorkspaceConfig,
  });
  return found && { layer: 'workspace', file: found.file, config: found.config, lines: found.lines };
}

/** The rules of a file. */
export interface RuleFile {
  /** `holdfast.policy.json`, `.yaml` or `.yml`. */
  readonly name: string;
  readonly rules: FactRules;
  readonly lines: RuleLines;
  /** Commands that count as checks before a release, besides the known ones. Only the user's own file has any. */
  readonly checks: readonly string[];
  /** True if the guard keeps the files that a call may change. Only the user's own file can say so. */
  readonly checkpoints: boolean;
  /** Where guarded sessions are kept instead of files. Only the user's own file can say so. */
  readonly store?: string;
}

/**
 * Reads the rules in the `holdfast.policy.json` or `.yaml` of a folder: the user's own, which may be a link, or those of a workspace, which
 * have no `allow`. `undefined` if there is no such file.
 *
 * @throws HoldfastError `config.invalid`.
 */
export async function readRuleFile(folder: string, owner: 'user' | 'workspace'): Promise<RuleFile | undefined> {
  const reading = { show: (name: string) => (owner === 'user' ? join(folder, name) : name) };
  if (owner === 'workspace') {
    const found = await readPolicyFile(folder, {
      ...reading,
      whose: ' of the workspace',
      followLink: false,
      check: checkWorkspaceConfig,
    });
    if (found === undefined) return undefined;
    const { deny, ask } = found.config;
    return { name: found.name, rules: { deny, ask }, lines: found.lines, checks: [], checkpoints: false };
  }
  const found = await readPolicyFile(folder, { ...reading, whose: '', followLink: true, check: checkUserRules });
  if (found === undefined) return undefined;
  const { deny, ask, allow, checks = [], checkpoints = false, store } = found.config;
  return {
    name: found.name,
    rules: { deny, ask, allow },
    lines: found.lines,
    checks,
    checkpoints,
    ...(store && { store }),
  };
}

interface Reading<Config> {
  /** The file for display. */
  show(name: string): string;
  readonly whose: string;
  readonly followLink: boolean;
  check(value: unknown): CheckedConfig<Config>;
}

interface FoundFile<Config> {
  readonly name: string;
  readonly file: string;
  readonly config: Config;
  readonly lines: RuleLines;
}

async function readPolicyFile<Config>(
  folder: string,
  { show, whose, followLink, check }: Reading<Config>,
): Promise<FoundFile<Config> | undefined> {
  const readings = fileNames.map(async (name) => {
    const yaml = name !== 'holdfast.policy.json';
    const limit = yaml ? { maxBytes: maxYamlBytes } : {};
    return { name, yaml, reading: await readSmallFile(join(folder, name), { followLink, ...limit }) };
  });
  const [found, other] = (await Promise.all(readings)).filter(({ reading }) => reading.type !== 'missing');
  if (found === undefined) return undefined;
  const file = show(found.name);
  const what = `\`${file}\`${whose}`;
  const refuse = (problem: string): never => {
    const message = `Cannot use ${what}, and nothing runs without it: ${problem}.`;
    throw new HoldfastError('config.invalid', message, { data: { reason: 'policy', file } });
  };
  if (other !== undefined)
    return refuse(
      `\`${other.name}\` is beside it. Keep \`${found.name}\`, add to it what the other has, and delete the other`,
    );
  const { reading, yaml, name } = found;
  if (reading.type !== 'read') return refuse(reading.type === 'refused' ? reading.why : 'it is missing');
  const text = decodeText(reading.bytes) ?? refuse('it is not UTF-8');
  const parsed = await parsePolicyText(text, { yaml });
  if (!parsed.ok) return refuse(parsed.problem);
  const checked = check(parsed.value);
  if (checked.ok) return { name, file, config: checked.config, lines: linesOf(parsed.places) };
  const problems = checked.problems.map(({ path, message }) => {
    const place = parsed.places.get(path);
    return { path, message: place === undefined ? message : `${message} (${describePlace(place)})` };
  });
  throw invalidConfig('policy', what, problems);
}

/** The lines of `deny[0]` and other rules. */
function linesOf(places: ReadonlyMap<string, TextPlace>): RuleLines {
  return new Map(
    [...places].flatMap(([path, { line }]) =>
      /^(?:deny|ask|allow)\[\d+\]$/.test(path) ? [[path, line] as const] : [],
    ),
  );
}
