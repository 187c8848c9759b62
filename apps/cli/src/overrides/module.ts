import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import { type BindablePrompt, loadOverrides, memoryOverrides, seedOverrides } from '@holdfast/prompt';
import { findPackageEntry } from '../models/package.ts';
import { usageError } from '../terminal/failure.ts';

/** A prompt of a user's module, and what works with its overrides. */
export interface OpenedPrompt {
  readonly prompt: BindablePrompt;
  readonly functions: OverrideFunctions;
}

/** Of the copy of `@holdfast/prompt` that made the prompt: no other one knows what it is made of. */
export interface OverrideFunctions {
  readonly loadOverrides: typeof loadOverrides;
  readonly seedOverrides: typeof seedOverrides;
}

export interface ModuleChoice {
  /** Path of the file, from `directory`. */
  readonly module: string;
  /** Absent: `default`, else the only prompt that is exported. */
  readonly exportName: string | undefined;
  readonly directory: string;
}

/**
 * Runs a module and takes the prompt that it exports.
 *
 * @throws HoldfastError `usage.module_missing`, `usage.prompt_missing`, `usage.prompt_unclear`, `usage.prompt_foreign`;
 * `module.failed` when it throws.
 */
export async function openPrompt({ module, exportName, directory }: ModuleChoice): Promise<OpenedPrompt> {
  const path = resolve(directory, module);
  const prompt = pickPrompt(await importModule(path, module), { module, exportName });
  return { prompt, functions: await findFunctions(prompt, { path, module }) };
}

type Exports = Readonly<Record<string, unknown>>;

async function importModule(path: string, name: string): Promise<Exports> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw usageError('usage.module_missing', `\`${name}\` is no file.`);
  try {
    return (await import(pathToFileURL(path).href)) as Exports;
  } catch (cause) {
    throw new HoldfastError('module.failed', `\`${name}\` cannot be loaded: ${describeThrown(cause)}`, { cause });
  }
}

function pickPrompt(
  exports: Exports,
  { module, exportName }: Pick<ModuleChoice, 'module' | 'exportName'>,
): BindablePrompt {
  const prompts = new Map(
    Object.entries(exports).flatMap(([name, value]) => (isPrompt(value) ? [[name, value] as const] : [])),
  );
  const list = [...prompts.keys()].map((name) => `\`${name}\``).join(', ');
  if (exportName !== undefined) {
    const named = prompts.get(exportName);
    if (named !== undefined) return named;
    throw usageError(
      'usage.prompt_missing',
      `\`${module}\` exports no prompt \`${exportName}\`${list === '' ? '' : `; it has ${list}`}.`,
    );
  }
  // One prompt may have several names.
  const different = new Set(prompts.values());
  const [only] = different;
  const chosen = prompts.get('default') ?? (different.size === 1 ? only : undefined);
  if (chosen !== undefined) return chosen;
  if (different.size === 0) {
    throw usageError('usage.prompt_missing', `\`${module}\` exports no prompt: export what \`createPrompt\` makes.`);
  }
  throw usageError(
    'usage.prompt_unclear',
    `\`${module}\` exports several prompts: choose one of ${list} with --export.`,
  );
}

function isPrompt(value: unknown): value is BindablePrompt {
  return (
    typeof value === 'object' &&
    value !== null &&
    'ns' in value &&
    typeof value.ns === 'string' &&
    'key' in value &&
    typeof value.key === 'string' &&
    'bind' in value &&
    typeof value.bind === 'function'
  );
}

/** A program that is installed for all users has a copy of the package that the module knows nothing of. */
async function findFunctions(
  prompt: BindablePrompt,
  { path, module }: { readonly path: string; readonly module: string },
): Promise<OverrideFunctions> {
  const own: OverrideFunctions = { loadOverrides, seedOverrides };
  if (await knows(own, prompt)) return own;
  const entry = await findPackageEntry('@holdfast/prompt', dirname(path));
  const loaded = entry === undefined ? {} : ((await import(entry)) as Partial<OverrideFunctions>);
  const { loadOverrides: load, seedOverrides: seed } = loaded;
  if (load !== undefined && seed !== undefined) {
    const theirs: OverrideFunctions = { loadOverrides: load, seedOverrides: seed };
    if (await knows(theirs, prompt)) return theirs;
  }
  throw usageError(
    'usage.prompt_foreign',
    `The prompt of \`${module}\` was made by a copy of \`@holdfast/prompt\` that is not found from its folder, or too old for overrides.`,
  );
}

async function knows({ loadOverrides: load }: OverrideFunctions, prompt: BindablePrompt): Promise<boolean> {
  try {
    await load(prompt, { store: memoryOverrides() });
    return true;
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'prompt.foreign') return false;
    throw thrown;
  }
}
