import type { Host } from '../terminal/host.ts';
import { findOllama } from './ollama.ts';
import { findVersion } from './package.ts';
import { compatible, keyVariables, type OfferedProvider, ollama } from './provider-keys.ts';

/** A model available here, because its key is set or its server runs on this machine. */
export interface FoundModel {
  readonly provider: OfferedProvider;
  /** The name for `--model`. */
  readonly name: string;
  /** The variable or URL that was found. */
  readonly by: string;
  /** The package that it requires. */
  readonly package: string;
  /** `null`: not found from the current folder. */
  readonly version: string | null;
}

const keyedModels = [
  { provider: 'openai', name: 'openai:gpt-5' },
  { provider: 'anthropic', name: 'anthropic:claude-sonnet-4-5' },
  { provider: 'google', name: 'google:gemini-2.5-pro' },
] as const;

type Surroundings = Pick<Host, 'directory' | 'environment' | 'fetch'>;

/** Finds models whose keys are set, and a local Ollama that responds. Contains no key values. */
export async function findModels(surroundings: Surroundings): Promise<readonly FoundModel[]> {
  const found = await Promise.all([findKeyed(surroundings), findServed(surroundings)]);
  return found.flat();
}

async function findKeyed({ directory, environment }: Surroundings): Promise<readonly FoundModel[]> {
  const found = await Promise.all(
    keyedModels.map(async ({ provider, name }): Promise<readonly FoundModel[]> => {
      const by = keyVariables.get(provider) ?? '';
      if ((environment[by] ?? '').trim() === '') return [];
      return [{ provider, name, by, ...(await describePackage(`@ai-sdk/${provider}`, directory)) }];
    }),
  );
  return found.flat();
}

async function findServed(surroundings: Surroundings): Promise<readonly FoundModel[]> {
  const found = await findOllama(surroundings);
  if (found?.model === undefined) return [];
  const name = `${ollama}:${found.model}`;
  const { directory } = surroundings;
  return [
    { provider: ollama, name, by: found.address, ...(await describePackage(`@ai-sdk/${compatible}`, directory)) },
  ];
}

async function describePackage(name: string, directory: string): Promise<Pick<FoundModel, 'package' | 'version'>> {
  return { package: name, version: await findVersion(name, directory) };
}

/** A one-line description for people. */
export function describeFound({ name, provider, by, package: needed, version }: FoundModel): string {
  const where = provider === ollama ? `Ollama at ${by}` : `${by} is set`;
  return version === null
    ? `${name} (${where}; first \`npm install ${needed}\`)`
    : `${name} (${where}; ${needed} ${version})`;
}
