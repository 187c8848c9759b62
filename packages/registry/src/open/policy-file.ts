import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import type { FactRules } from '@holdfast/facts/rules';
import type { ConfigLayer } from '../config/config.ts';
import { type CheckedConfig, checkUserRules, checkWorkspaceConfig, invalidConfig } from '../config/schema.ts';
import { decodeText, readSmallFile, showFile } from './small-file.ts';

const fileName = 'holdfast.policy.json';

/**
 * Reads the workspace's own configuration, plain JSON. `undefined` if the file does not exist; an unreadable file is an
 * error, because it may deny something.
 *
 * @throws HoldfastError `config.policy.invalid`.
 */
export async function readWorkspaceConfig(workspace: string, directory: string): Promise<ConfigLayer | undefined> {
  const file = showFile(join(workspace, fileName), directory);
  const config = await readPolicyFile(workspace, {
    file,
    what: `\`${file}\` of the workspace`,
    followLink: false,
    check: checkWorkspaceConfig,
  });
  return config && { layer: 'workspace', file, config };
}

/**
 * Reads the rules in the `holdfast.policy.json` of a folder: the user's own, which may be a link, or those of a workspace, which have no
 * `allow`. `undefined` if the file does not exist.
 *
 * @throws HoldfastError `config.policy.invalid`.
 */
export async function readRuleFile(folder: string, owner: 'user' | 'workspace'): Promise<FactRules | undefined> {
  if (owner === 'workspace') {
    const layer = await readWorkspaceConfig(folder, folder);
    if (layer === undefined) return undefined;
    const { deny, ask } = layer.config;
    return { deny, ask };
  }
  const path = join(folder, fileName);
  return await readPolicyFile(folder, {
    file: path,
    what: `\`${path}\``,
    followLink: true,
    check: checkUserRules,
  });
}

interface Reading<Config> {
  /** For display. */
  readonly file: string;
  readonly what: string;
  readonly followLink: boolean;
  check(value: unknown): CheckedConfig<Config>;
}

async function readPolicyFile<Config>(
  folder: string,
  { file, what, followLink, check }: Reading<Config>,
): Promise<Config | undefined> {
  const refuse = (problem: string): never => {
    const message = `Cannot use ${what}, and nothing runs without it: ${problem}.`;
    throw new HoldfastError('config.policy.invalid', message, { data: { file } });
  };
  const reading = await readSmallFile(join(folder, fileName), { followLink });
  if (reading.type === 'missing') return undefined;
  if (reading.type === 'refused') return refuse(reading.why);
  const text = decodeText(reading.bytes) ?? refuse('it is not UTF-8');
  if (text.trim() === '') return refuse('it is empty; write `{}` for no settings');
  if (text.startsWith('\u{feff}')) return refuse('it starts with a byte order mark; save it as UTF-8 without one');
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const key = parsed.reason === 'duplicate' ? findDuplicateKey(text) : undefined;
    return refuse(key === undefined ? parsed.problem : `it has the duplicate key \`${key.slice(0, 100)}\``);
  }
  const checked = check(parsed.value);
  if (checked.ok) return checked.config;
  throw invalidConfig('config.policy.invalid', what, checked.problems);
}

/** The first duplicate key of an object, in valid JSON text. */
function findDuplicateKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?|[{}[\]]/gsu;
  for (const { 0: token, groups } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (groups?.['colon'] !== undefined) {
      const key: unknown = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const keys = open.at(-1);
      if (typeof key !== 'string') continue;
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
