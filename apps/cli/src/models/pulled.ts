import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';
import { hasCode } from '../terminal/system.ts';

/** A model in the folder of pulled models. What lies there under its name is whole and was checked. */
export interface PulledModel {
  /** As in `local:<name>`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

/** What is known of the machine. Defaults: this one. */
export interface MachinePlaces {
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
  /** Where a relative `HOLDFAST_MODELS` starts. */
  readonly directory?: string;
}

/** A name that is also a file's name on every system: no separators, nothing hidden, and nothing that Windows cuts off. */
const modelName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$/;
const ending = '.gguf';

export function isModelName(name: string): boolean {
  return modelName.test(name) && !name.toLowerCase().endsWith(ending);
}

/**
 * The folder of pulled models: `HOLDFAST_MODELS`, else where the platform keeps data of programs. It is no cache: what is cleaned
 * away there would be gigabytes to download again.
 */
export function modelsFolder(
  environment: Host['environment'],
  { platform = process.platform, home = homedir(), directory = process.cwd() }: MachinePlaces = {},
): string {
  const { HOLDFAST_MODELS: own, LOCALAPPDATA: local, XDG_DATA_HOME: data } = environment;
  if (own !== undefined && own !== '') return resolve(directory, own);
  const rest = ['holdfast', 'models'] as const;
  if (platform === 'win32') return join(toAbsolute(local) ?? join(home, 'AppData', 'Local'), ...rest);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...rest);
  return join(toAbsolute(data) ?? join(home, '.local', 'share'), ...rest);
}

/** Where the model `name` is or would be. */
export function toModelPath(name: string, folder: string): string {
  return join(folder, `${name}${ending}`);
}

/** Where what has come of the model `name` waits until all of it is there and checked. */
export function toPartFolder(name: string, folder: string): string {
  return join(folder, `${name}.part`);
}

/** How many bytes have come of the model `name`; `undefined` when it is not being pulled, either. */
export async function measurePart(name: string, folder: string): Promise<number | undefined> {
  const part = toPartFolder(name, folder);
  const files = await lookInto(folder, () => readdir(part));
  if (files === undefined) return undefined;
  const sizes = await Promise.all(files.filter((file) => file !== 'lock').map((file) => measure(join(part, file))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What of it is on the disk: the file has its full length from the start, with holes. */
async function measure(path: string): Promise<number> {
  const { blocks, size } = await stat(path);
  return Math.min(blocks * 512, size);
}

/**
 * The path of the pulled model `name`, whole and checked; `undefined` when there is none.
 *
 * @throws HoldfastError `download.folder_unusable`.
 */
export async function findPulledModel(name: string, folder: string): Promise<string | undefined> {
  return isModelName(name) ? (await readModel(name, folder))?.path : undefined;
}

/**
 * All pulled models, by name.
 *
 * @throws HoldfastError `download.folder_unusable`.
 */
export async function listPulledModels(folder: string): Promise<readonly PulledModel[]> {
  const entries = (await lookInto(folder, () => readdir(folder))) ?? [];
  const names = entries.flatMap((entry) => {
    const name = entry.slice(0, -ending.length);
    return entry.endsWith(ending) && isModelName(name) ? [name] : [];
  });
  const models = await Promise.all(names.toSorted().map((name) => readModel(name, folder)));
  return models.filter((model) => model !== undefined);
}

async function readModel(name: string, folder: string): Promise<PulledModel | undefined> {
  const path = toModelPath(name, folder);
  const found = await lookInto(folder, () => stat(path));
  return found?.isFile() === true ? { name, path, bytes: found.size } : undefined;
}

/** What is not there is `undefined`; what cannot be looked at is told. */
async function lookInto<Result>(folder: string, look: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await look();
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw folderUnusable(folder, cause);
  }
}

export function folderUnusable(folder: string, cause: unknown): HoldfastError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new HoldfastError(
    'download.folder_unusable',
    `The folder of pulled models, \`${folder}\`, cannot be used (${code}). Set \`HOLDFAST_MODELS\` to name another.`,
    { data: { folder }, cause },
  );
}

/** As the XDG specification wants it, a relative path counts as unset. */
function toAbsolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
