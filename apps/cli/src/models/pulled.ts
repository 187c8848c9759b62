import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';
import { hasCode } from '../terminal/system.ts';

/** A model in the models folder, complete and verified. */
export interface PulledModel {
  /** The name in `local:<name>`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

/** Facts about the machine. Defaults: this one. */
export interface MachinePlaces {
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
  /** The base of a relative `HOLDFAST_MODELS`. */
  readonly directory?: string;
}

/** A valid file name on every system: no separators, not hidden, no characters that Windows strips. */
const modelName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$/;
const ending = '.gguf';

export function isModelName(name: string): boolean {
  return modelName.test(name) && !name.toLowerCase().endsWith(ending);
}

/**
 * The folder of pulled models: `HOLDFAST_MODELS`, or the platform's data folder. Not the cache folder, because models are gigabytes to
 * download again.
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

/** The path of the model `name`, existing or not. */
export function toModelPath(name: string, folder: string): string {
  return join(folder, `${name}${ending}`);
}

/** The folder of the partial download of model `name`, until it is complete and verified. */
export function toPartFolder(name: string, folder: string): string {
  return join(folder, `${name}.part`);
}

/** The bytes downloaded so far of the model `name`; `undefined` without a partial download. */
export async function measurePart(name: string, folder: string): Promise<number | undefined> {
  const part = toPartFolder(name, folder);
  const files = await lookInto(folder, () => readdir(part));
  if (files === undefined) return undefined;
  const sizes = await Promise.all(files.filter((file) => file !== 'lock').map((file) => measure(join(part, file))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Its size on the disk: the file is sparse and has its full length from the start. */
async function measure(path: string): Promise<number> {
  const { blocks, size } = await stat(path);
  return Math.min(blocks * 512, size);
}

/**
 * The path of the pulled model `name`; `undefined` if it is not pulled.
 *
 * @throws HoldfastError `download.failed`.
 */
export async function findPulledModel(name: string, folder: string): Promise<string | undefined> {
  return isModelName(name) ? (await readModel(name, folder))?.path : undefined;
}

/**
 * All pulled models, by name.
 *
 * @throws HoldfastError `download.failed`.
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

/** `undefined` for a missing file; other errors are thrown. */
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
    'download.failed',
    `Cannot use the models folder \`${folder}\` (${code}). Set \`HOLDFAST_MODELS\` to another folder.`,
    { data: { reason: 'folder_unusable', folder }, cause },
  );
}

/** The XDG specification treats a relative path as unset. */
function toAbsolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
