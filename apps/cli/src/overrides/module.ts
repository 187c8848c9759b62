import { dirname, resolve } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { type BindablePrompt, loadOverrides, memoryOverrides, seedOverrides } from '@holdfast/prompt';
import { findEntry } from '../models/package.ts';
import { usageError } from '../terminal/failure.ts';
import { isFile } from '../workspace/folder.ts';
import { importModule, pickExport } from '../workspace/module.ts';

/** A prompt of a user's module, and the functions for its overrides. */
export interface OpenedPrompt {
  readonly prompt: BindablePrompt;
  readonly functions: OverrideFunctions;
}

/** From the copy of `@holdfast/prompt` that made the prompt: other copies reject it. */
export interface OverrideFunctions {
  readonly loadOverrides: typeof loadOverrides;
  readonly seedOverrides: typeof seedOverrides;
}

export interface ModuleChoice {
  /** The path of the file, relative to `directory`. */
  readonly module: string;
  /** Default: `default`, or the only exported prompt. */
  readonly exportName: string | undefined;
  readonly directory: string;
}

/**
 * Executes a module and returns the prompt that it exports.
 *
 * @throws HoldfastError `usage.invalid` (`module_missing`, `prompt_missing`, `prompt_unclear`, `prompt_foreign`);
 * `module.failed` when it throws.
 */
export async function openPrompt({ module, exportName, directory }: ModuleChoice): Promise<OpenedPrompt> {
  const path = resolve(directory, module);
  if (!(await isFile(path))) throw usageError('module_missing', `File \`${module}\` does not exist.`);
  const exports = await importModule(path, module);
  const prompt = pickExport(exports, { module, exportName, kind: 'prompt', maker: 'createPrompt', is: isPrompt });
  return { prompt, functions: await findFunctions(prompt, { path, module }) };
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

/** A globally installed program has a different copy of the package than the module. */
async function findFunctions(
  prompt: BindablePrompt,
  { path, module }: { readonly path: string; readonly module: string },
): Promise<OverrideFunctions> {
  const own: OverrideFunctions = { loadOverrides, seedOverrides };
  if (await knows(own, prompt)) return own;
  const entry = await findEntry('@holdfast/prompt', dirname(path));
  const loaded = entry === undefined ? {} : ((await import(entry)) as Partial<OverrideFunctions>);
  const { loadOverrides: load, seedOverrides: seed } = loaded;
  if (load !== undefined && seed !== undefined) {
    const theirs: OverrideFunctions = { loadOverrides: load, seedOverrides: seed };
    if (await knows(theirs, prompt)) return theirs;
  }
  throw usageError(
    'prompt_foreign',
    `The prompt of \`${module}\` was made by a copy of \`@holdfast/prompt\` that cannot be found from its folder, or is too old for overrides.`,
  );
}

async function knows({ loadOverrides: load }: OverrideFunctions, prompt: BindablePrompt): Promise<boolean> {
  try {
    await load(prompt, { store: memoryOverrides() });
    return true;
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'prompt.invalid' && thrown.reason === 'foreign') return false;
    throw thrown;
  }
}
