import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import type { ConfigLayer } from '../config/config.ts';
import { takeConfig } from '../config/schema.ts';
import { describeFailedImport, importModule } from './import-module.ts';
import { readWorkspaceConfig } from './policy-file.ts';
import { showFile } from './small-file.ts';

export interface ReadConfigOptions {
  /** The current directory, absolute: the only place searched for `holdfast.config.ts`. */
  readonly directory: string;
  /** Another file to read, relative to `directory`; false: none. */
  readonly file?: string | false | undefined;
  /** The workspace, absolute. Its `holdfast.policy.json` is read as data. */
  readonly workspace?: string | undefined;
}

/** The layers found, for `mergeConfig`; the caller adds the command line. */
export interface LoadedConfig {
  readonly layers: readonly ConfigLayer[];
}

/**
 * Reads the configuration of host and workspace. A host's configuration is a program that runs with all rights of this
 * process: `holdfast.config.ts`, `.mts`, `.js` or `.mjs` in `directory`, never in the workspace.
 *
 * @throws HoldfastError `config.invalid`.
 */
export async function readConfig({ directory, file, workspace }: ReadConfigOptions): Promise<LoadedConfig> {
  // Data first: if it is invalid, no code runs.
  const policy = workspace === undefined ? undefined : await readWorkspaceConfig(workspace, directory);
  const host = file === false ? undefined : await readHostConfig(directory, file);
  return { layers: [host, policy].filter((layer) => layer !== undefined) };
}

const toNames = (extensions: readonly string[]): readonly string[] =>
  extensions.map((extension) => `holdfast.config.${extension}`);
const configNames = toNames(['ts', 'mts', 'js', 'mjs']);
// Ignoring these would allow what they deny.
const otherNames = toNames(['json', 'jsonc', 'cjs', 'cts', 'yaml', 'yml']);

async function readHostConfig(directory: string, named: string | undefined): Promise<ConfigLayer | undefined> {
  const path = await findConfig(directory, named);
  if (path === undefined) return undefined;
  const file = showFile(path, directory);
  const { exported } = await importConfig(path, { file, directory });
  return { layer: 'host', file, config: takeConfig(exported, `\`${file}\``) };
}

/**
 * Absolute path of the configuration that `readConfig` would import: `named`, or the one in `directory`.
 *
 * @throws HoldfastError `config.invalid`.
 */
export async function findConfig(directory: string, named?: string): Promise<string | undefined> {
  if (named !== undefined) {
    const path = resolve(directory, named);
    const isModule = /\.[cm]?[jt]s$/.test(path);
    if (isModule && (await exists(path))) return path;
    const why = isModule ? '' : ': a configuration is a module, such as `holdfast.config.ts`';
    throw new HoldfastError('config.invalid', `Cannot find the configuration \`${named}\`${why}.`, {
      data: { reason: 'missing', file: named },
    });
  }
  const found: string[] = [];
  for (const name of configNames) if (await exists(join(directory, name))) found.push(name);
  const [first, second] = found;
  if (second !== undefined) {
    throw new HoldfastError(
      'config.invalid',
      `Found ${found.map((name) => `\`${name}\``).join(' and ')}: keep one of them, or select one with \`--config\`.`,
    );
  }
  if (first !== undefined) return join(directory, first);
  for (const name of otherNames) {
    if (!(await exists(join(directory, name)))) continue;
    throw new HoldfastError('config.invalid', `\`${name}\` is not supported: write a module, \`holdfast.config.ts\`.`);
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    // It exists; the import reports why it cannot be read.
    return !(thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'));
  }
}

/** Wrapped in an object, so that a promise is not awaited but rejected as a configuration. */
async function importConfig(
  path: string,
  { file, directory }: { readonly file: string; readonly directory: string },
): Promise<{ readonly exported: unknown }> {
  let module: unknown;
  try {
    module = await importModule(path, directory);
  } catch (cause) {
    // `defineConfig` does not know the file.
    if (isHoldfastError(cause) && cause.code === 'config.invalid') {
      const message = cause.message.replace('The configuration', () => `\`${file}\``);
      throw new HoldfastError('config.invalid', message, { data: cause.data, cause });
    }
    throw new HoldfastError('config.invalid', `Cannot load \`${file}\`${describeFailedImport(cause, directory)}`, {
      data: { reason: 'failed' },
      cause,
    });
  }
  // A module that exports `then` can replace itself with any value.
  if (typeof module === 'object' && module !== null && 'default' in module) return { exported: module.default };
  throw new HoldfastError(
    'config.invalid',
    `\`${file}\` does not export a configuration: write \`export default defineConfig({ … })\`.`,
  );
}
