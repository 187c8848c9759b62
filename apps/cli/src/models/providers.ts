import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { isHoldfastError, type Model } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';
import { findOllamaAddress } from './ollama.ts';
import { findEntry } from './package.ts';
import { baseUrlVariable, compatible, keyVariables, ollama, parseProviderModel } from './provider-keys.ts';

const compatibleKeyVariable = 'OPENAI_COMPATIBLE_API_KEY';

export interface ProviderSurroundings {
  /** The directory from which the provider package is resolved. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens the model `<provider>:<model>` with the installed provider package: `@ai-sdk/<provider>`, or the package itself if the name has
 * a scope. Returns `undefined` for other names.
 *
 * @throws HoldfastError `usage.invalid` (`provider_missing`, `provider_unusable`, `key_missing`, `base_url_missing`).
 */
export async function openProviderModel(name: string, surroundings: ProviderSurroundings): Promise<Model | undefined> {
  const parsed = parseProviderModel(name);
  if (parsed === undefined) return undefined;
  const { provider, modelId, packageName: fromPackage } = parsed;
  const { directory, environment } = surroundings;
  const entry = await findEntry(fromPackage, directory);
  if (entry === undefined) {
    throw usageError(
      'provider_missing',
      `\`${name}\` requires the package \`${fromPackage}\`, which is not installed here. Run \`npm install ${fromPackage}\`.`,
    );
  }
  checkVariables(name, provider, environment);
  try {
    const loaded = (await import(entry)) as Exports;
    return aiSdkModel(
      provider === compatible || provider === ollama
        ? openCompatible(loaded, modelId, toServer(provider, environment))
        : openModel(loaded, provider, modelId),
    );
  } catch (thrown) {
    const reason = isHoldfastError(thrown) ? thrown.message : describeThrown(thrown);
    throw usageError('provider_unusable', `Cannot use \`${fromPackage}\` for \`${name}\`: ${reason}`);
  }
}

function checkVariables(name: string, provider: string, environment: ProviderSurroundings['environment']): void {
  if (provider === compatible && isUnset(environment[baseUrlVariable])) {
    throw usageError(
      'base_url_missing',
      `\`${name}\` requires a server URL: set \`${baseUrlVariable}\`, for example to http://localhost:8080/v1. If the server needs a key, set \`${compatibleKeyVariable}\`.`,
    );
  }
  if (provider === ollama && findOllamaAddress(environment) === undefined) {
    throw usageError(
      'base_url_missing',
      `\`${name}\` requires the address of Ollama: \`OLLAMA_HOST\` is not a valid address.`,
    );
  }
  const variable = keyVariables.get(provider);
  if (variable !== undefined && isUnset(environment[variable]))
    throw usageError('key_missing', `\`${name}\` requires a key: set the environment variable \`${variable}\`.`);
}

function isUnset(value: string | undefined): boolean {
  return value === undefined || value.trim() === '';
}

type Exports = Readonly<Record<string, unknown>>;

interface Provider {
  languageModel(modelId: string): AiSdkModel;
}

function isProvider(value: unknown): value is Provider {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    'languageModel' in value &&
    typeof value.languageModel === 'function'
  );
}

/** The provider object exported by a package: the one with its own name, or the first. */
function openModel(loaded: Exports, provider: string, modelId: string): AiSdkModel {
  const ready = Object.entries(loaded).flatMap(([name, value]) => (isProvider(value) ? [{ name, value }] : []));
  const [first] = ready;
  if (first === undefined) throw new Error('it does not export an AI SDK provider.');
  const own = ready.find(({ name }) => name.toLowerCase() === provider.replaceAll('-', ''));
  return (own ?? first).value.languageModel(modelId);
}

/** A server with an OpenAI-compatible API. */
interface CompatibleServer {
  readonly name: string;
  readonly baseURL: string | undefined;
  readonly apiKey: string | undefined;
}

function toServer(provider: string, environment: ProviderSurroundings['environment']): CompatibleServer {
  return provider === ollama
    ? { name: ollama, baseURL: `${findOllamaAddress(environment)}/v1`, apiKey: undefined }
    : { name: compatible, baseURL: environment[baseUrlVariable], apiKey: environment[compatibleKeyVariable] };
}

function openCompatible(loaded: Exports, modelId: string, server: CompatibleServer): AiSdkModel {
  const create: unknown = Object.hasOwn(loaded, 'createOpenAICompatible')
    ? loaded['createOpenAICompatible']
    : undefined;
  if (typeof create !== 'function') throw new Error('it does not export `createOpenAICompatible`.');
  const provider: unknown = create({
    ...server,
    // Servers report usage only on request.
    includeUsage: true,
  });
  if (!isProvider(provider)) throw new Error('its `createOpenAICompatible` does not return an AI SDK provider.');
  return provider.languageModel(modelId);
}
