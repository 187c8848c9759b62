import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { offlineModel } from '@holdfast/adapter-offline';
import { describeThrown, type Model } from '@holdfast/core';
import { parseScript, scriptedModel } from '@holdfast/testing';
import { usageError } from './failure.ts';

const scriptPrefix = 'script:';

/**
 * The model that `name` stands for: `offline`, or `script:<file>` with the file relative to `directory`.
 *
 * @throws HoldfastError `usage.model_unknown`, `usage.script_unreadable`, and `script.invalid` of a file that is no script.
 */
export async function openModel(name: string, directory: string): Promise<Model> {
  if (name === 'offline') return offlineModel();
  if (!name.startsWith(scriptPrefix) || name === scriptPrefix) {
    throw usageError('usage.model_unknown', `There is no model \`${name}\`: use \`offline\` or \`script:<file>\`.`);
  }
  const path = name.slice(scriptPrefix.length);
  return scriptedModel(parseScript(await readScript(path, directory), path), { id: name });
}

async function readScript(path: string, directory: string): Promise<string> {
  try {
    return await readFile(resolve(directory, path), 'utf8');
  } catch (cause) {
    throw usageError('usage.script_unreadable', `The script \`${path}\` cannot be read: ${describeThrown(cause)}`);
  }
}
