import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { findPackage } from '@holdfast/registry/node';
import { adapterPackage, bindingPackage, weightsPackage } from '../models/local.ts';
import { findVersion } from '../models/package.ts';
import { listPulledModels, modelsFolder } from '../models/pulled.ts';
import type { Host } from '../terminal/host.ts';
import { hasCode } from '../terminal/system.ts';
import { formatBytes, toPrintable } from '../terminal/text.ts';

/** The state of local models. */
export interface LocalState {
  /** The packages that `--model local` needs; `null`: not found from the current folder. */
  readonly packages: readonly { readonly name: string; readonly version: string | null }[];
  /** Packages for graphics cards, which are not used. */
  readonly needless: readonly string[];
  /** The folder of pulled models. */
  readonly folder: string;
  readonly models: readonly { readonly name: string; readonly bytes: number }[];
  /** Why the pulled models are unknown; empty if known. */
  readonly reason: string;
}

export async function examineLocal({
  directory,
  environment,
}: Pick<Host, 'directory' | 'environment'>): Promise<LocalState> {
  const names = [adapterPackage, weightsPackage, bindingPackage];
  const folder = modelsFolder(environment, { directory });
  const found = {
    packages: await Promise.all(names.map(async (name) => ({ name, version: await findVersion(name, directory) }))),
    needless: await findNeedless(findPackage(bindingPackage, directory)),
    folder,
  };
  try {
    const models = (await listPulledModels(folder)).map(({ name, bytes }) => ({ name, bytes }));
    return { ...found, models, reason: '' };
  } catch (thrown) {
    return { ...found, models: [], reason: describeThrown(thrown) };
  }
}

/** Dependencies of the binding, installed beside it. */
async function findNeedless(binding: string | undefined): Promise<readonly string[]> {
  if (binding === undefined) return [];
  const scope = join(dirname(await realpath(binding)), '@node-llama-cpp');
  const names = await readdir(scope).catch((thrown: unknown): readonly string[] => {
    // No folder: the binding was built here, or has no binaries.
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return [];
    throw thrown;
  });
  return names
    .filter((name) => /-(?:cuda|cuda-ext|vulkan)$/.test(name))
    .toSorted()
    .map((name) => `@node-llama-cpp/${name}`);
}

export function describeLocal(state: LocalState): readonly (readonly [label: string, text: string])[] {
  const { packages, needless, folder, models, reason } = state;
  const missing = packages.flatMap(({ name, version }) => (version === null ? [name] : []));
  const installed = packages.flatMap(({ name, version }) => (version === null ? [] : [`${name} ${version}`]));
  const install = `\`npm install ${missing.join(' ')}\``;
  const pulled = models.map(({ name, bytes }) => `${name} (${formatBytes(bytes)})`).join(', ');
  return [
    [
      'local model',
      [...installed, ...(missing.length === 0 ? [] : [`not installed: ${missing.join(', ')}; ${install}`])].join(', '),
    ],
    ...(needless.length === 0
      ? []
      : [['', `not needed: ${needless.join(', ')} (for GPUs); exclude with \`overrides\` in package.json`] as const]),
    [
      'pulled',
      toPrintable(
        reason === '' ? (models.length === 0 ? `no models in ${folder}; see \`holdfast model list\`` : pulled) : reason,
      ),
    ],
  ];
}
