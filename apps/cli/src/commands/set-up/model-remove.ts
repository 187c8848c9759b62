import { rm } from 'node:fs/promises';
import { lockPart } from '../../models/pull.ts';
import {
  isModelName,
  listPulledModels,
  measurePart,
  modelsFolder,
  toModelPath,
  toPartFolder,
} from '../../models/pulled.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';

/**
 * Removes a pulled model, or what was pulled of it.
 *
 * @throws HoldfastError `usage.model_unknown`, `download.busy`, `download.folder_unusable`.
 */
export async function removeModel({ name }: { readonly name: string }, host: Host): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const pulled = (await listPulledModels(folder)).map((model) => model.name);
  const isThere = isModelName(name) && (pulled.includes(name) || (await measurePart(name, folder)) !== undefined);
  if (!isThere) {
    const names = pulled.map((one) => `\`${one}\``);
    throw usageError(
      'usage.model_unknown',
      `No pulled model is called \`${name}\`.${names.length === 0 ? '' : ` There are ${names.join(', ')}.`}`,
    );
  }
  const part = toPartFolder(name, folder);
  await lockPart(part, folder);
  await rm(toModelPath(name, folder), { force: true });
  await rm(part, { recursive: true });
  host.stdout.write(`${name} is removed.\n`);
  return 0;
}
