import { rm, stat } from 'node:fs/promises';
import { type ExitCode, usageError } from './failure.ts';
import type { Host } from './host.ts';
import { lockModel } from './model-lock.ts';
import { removePart } from './model-part.ts';
import { findPulledModel, isModelName, listPulledModels, modelsFolder, toModelPath } from './pulled-models.ts';

/**
 * Removes a pulled model, or what was pulled of it.
 *
 * @throws HoldfastError `usage.model_unknown`, `download.busy`, `download.folder_unusable`.
 */
export async function removeModel({ name }: { readonly name: string }, host: Host): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const path = toModelPath(name, folder);
  if (!isModelName(name) || !((await findPulledModel(name, folder)) !== undefined || (await isThere(`${path}.part`)))) {
    const names = (await listPulledModels(folder)).map((model) => `\`${model.name}\``);
    throw usageError(
      'usage.model_unknown',
      `No pulled model is called \`${name}\`.${names.length === 0 ? '' : ` There are ${names.join(', ')}.`}`,
    );
  }
  const unlock = await lockModel(path);
  try {
    await removePart(path);
    await rm(path, { force: true });
  } finally {
    await unlock();
  }
  host.stdout.write(`${name} is removed.\n`);
  return 0;
}

async function isThere(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    // What cannot be looked at is not there for anybody.
    return false;
  }
}
