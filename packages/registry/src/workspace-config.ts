import { join } from 'node:path';
import { HoldfastError, parseJson } from '@holdfast/core';
import type { ConfigLayer } from './config.ts';
import { checkWorkspaceConfig } from './config-schema.ts';
import { invalidConfig } from './define-config.ts';
import { findDuplicateKey } from './duplicate-key.ts';
import { showFile } from './shown-file.ts';
import { decodeText, readSmallFile } from './small-file.ts';

const fileName = 'holdfast.policy.json';

/**
 * What the workspace itself says: JSON, of which nothing runs. `undefined` where it has no such file; one that is there and cannot be
 * read is an error, because it may deny what would then be allowed.
 *
 * @throws HoldfastError `config.policy.invalid`.
 */
export async function readWorkspaceConfig(workspace: string, directory: string): Promise<ConfigLayer | undefined> {
  const path = join(workspace, fileName);
  const file = showFile(path, directory);
  const refuse = (problem: string): never => {
    const message = `\`${file}\` of the workspace cannot be used, and nothing is run without it: ${problem}.`;
    throw new HoldfastError('config.policy.invalid', message, { data: { file } });
  };
  const reading = await readSmallFile(path, { followLink: false });
  if (reading.type === 'missing') return undefined;
  if (reading.type === 'refused') return refuse(reading.why);
  const text = decodeText(reading.bytes) ?? refuse('it is not UTF-8');
  if (text.trim() === '') return refuse('it is empty; `{}` says nothing');
  if (text.startsWith('\u{feff}')) return refuse('it begins with a byte order mark; save it as UTF-8 without one');
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const key = parsed.reason === 'duplicate' ? findDuplicateKey(text) : undefined;
    return refuse(key === undefined ? parsed.problem : `it has the key \`${key.slice(0, 100)}\` twice in one object`);
  }
  const checked = checkWorkspaceConfig(parsed.value);
  if (checked.ok) return { layer: 'workspace', file, config: checked.config };
  throw invalidConfig('config.policy.invalid', `\`${file}\` of the workspace`, checked.problems);
}
