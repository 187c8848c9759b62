import type { Host } from '../terminal/host.ts';
import { findOllama } from './ollama.ts';
import { findVersion } from './package.ts';
import { compatible, keyVariables, type OfferedProvider, ollama } from './provider-keys.ts';

/** A model that could be asked here, because there is a key, or a server on this machine. */
export interface FoundModel {
  readonly provider: OfferedProvider;
  /** As `--model` takes it. */
  readonly name: string;
  /** The variable or the address that was found. */
  readonly by: string;
  /** What it is asked through. */
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

/** Models whose keys are set, and the one of an Ollama that answers on this machine. No value of a key is in it. */
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

/** What a person should know of it on one line. */
export function describeFound({ name, provider, by, package: needed, version }: FoundModel): string {
  const where = provider === ollama ? `Ollama at ${by}` : `${by} is set`;
  return version === null
    ? `${name} (${where}; first \`npm install ${needed}\`)`
    : `${name} (${where}; ${needed} ${version})`;
}
