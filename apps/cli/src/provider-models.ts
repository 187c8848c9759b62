import { type AiSdkModel, aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { describeThrown, isHoldfastError, type Model } from '@holdfast/core';
import { usageError } from './failure.ts';
import { findPackageEntry } from './provider-package.ts';

/** Environment variables that hold a provider's key. Providers that are not here find their own. */
export const keyVariables: ReadonlyMap<string, string> = new Map([
  ['openai', 'OPENAI_API_KEY'],
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['azure', 'AZURE_API_KEY'],
  ['cerebras', 'CEREBRAS_API_KEY'],
  ['cohere', 'COHERE_API_KEY'],
  ['deepseek', 'DEEPSEEK_API_KEY'],
  ['fireworks', 'FIREWORKS_API_KEY'],
  ['groq', 'GROQ_API_KEY'],
  ['mistral', 'MISTRAL_API_KEY'],
  ['perplexity', 'PERPLEXITY_API_KEY'],
  ['xai', 'XAI_API_KEY'],
]);

export const compatible = 'openai-compatible';
export const baseUrlVariable = 'OPENAI_COMPATIBLE_BASE_URL';
const compatibleKeyVariable = 'OPENAI_COMPATIBLE_API_KEY';

const providerName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export interface ProviderModelName {
  readonly provider: string;
  readonly modelId: string;
  /** That has to be installed. */
  readonly packageName: string;
}

/** The parts of `<provider>:<model>`; `undefined` when `name` is not of that form. */
export function parseProviderModel(name: string): ProviderModelName | undefined {
  // A model's own name may have colons, a package's cannot.
  const [, provider = '', modelId = ''] = /^([^:]+):(.+)$/.exec(name) ?? [];
  if (modelId === '' || !providerName.test(provider)) return undefined;
  return { provider, modelId, packageName: provider.includes('/') ? provider : `@ai-sdk/${provider}` };
}

export interface ProviderSurroundings {
  /** Where the provider's package is looked for, as an import from there would. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The model that `<provider>:<model>` stands for, made by the provider package that the user installed: `@ai-sdk/<provider>`, or
 * the package itself when the name has a scope. `undefined` when `name` is not of that form.
 *
 * @throws HoldfastError `usage.provider_missing`, `usage.provider_unusable`, `usage.key_missing`, `usage.base_url_missing`.
 */
export async function openProviderModel(name: string, surroundings: ProviderSurroundings): Promise<Model | undefined> {
  const parsed = parseProviderModel(name);
  if (parsed === undefined) return undefined;
  const { provider, modelId, packageName: fromPackage } = parsed;
  const { directory, environment } = surroundings;
  const entry = await findPackageEntry(fromPackage, directory);
  if (entry === undefined) {
    throw usageError(
      'usage.provider_missing',
      `\`${name}\` needs the package \`${fromPackage}\`, which is not installed here: run \`npm install ${fromPackage}\`.`,
    );
  }
  checkVariables(name, provider, environment);
  try {
    const loaded = (await import(entry)) as Exports;
    return aiSdkModel(
      provider === compatible ? openCompatible(loaded, modelId, environment) : openModel(loaded, provider, modelId),
    );
  } catch (thrown) {
    const reason = isHoldfastError(thrown) ? thrown.message : describeThrown(thrown);
    throw usageError('usage.provider_unusable', `\`${fromPackage}\` cannot be used for \`${name}\`: ${reason}`);
  }
}

function checkVariables(name: string, provider: string, environment: ProviderSurroundings['environment']): void {
  if (provider === compatible && isUnset(environment[baseUrlVariable])) {
    throw usageError(
      'usage.base_url_missing',
      `\`${name}\` needs the address of the server: set \`${baseUrlVariable}\`, for example to http://localhost:8080/v1. If it wants a key, set \`${compatibleKeyVariable}\`.`,
    );
  }
  const variable = keyVariables.get(provider);
  if (variable !== undefined && isUnset(environment[variable]))
    throw usageError('usage.key_missing', `\`${name}\` needs a key: set the environment variable \`${variable}\`.`);
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

/** The provider object that a package exports ready-made: the one of its own name, else the first. */
function openModel(loaded: Exports, provider: string, modelId: string): AiSdkModel {
  const ready = Object.entries(loaded).flatMap(([name, value]) => (isProvider(value) ? [{ name, value }] : []));
  const [first] = ready;
  if (first === undefined) throw new Error('it exports no AI SDK provider.');
  const own = ready.find(({ name }) => name.toLowerCase() === provider.replaceAll('-', ''));
  return (own ?? first).value.languageModel(modelId);
}

function openCompatible(
  loaded: Exports,
  modelId: string,
  environment: ProviderSurroundings['environment'],
): AiSdkModel {
  const create: unknown = Object.hasOwn(loaded, 'createOpenAICompatible')
    ? loaded['createOpenAICompatible']
    : undefined;
  if (typeof create !== 'function') throw new Error('it exports no `createOpenAICompatible`.');
  const provider: unknown = create({
    name: compatible,
    baseURL: environment[baseUrlVariable],
    apiKey: environment[compatibleKeyVariable],
    // Servers count tokens only when asked to.
    includeUsage: true,
  });
  if (!isProvider(provider)) throw new Error('its `createOpenAICompatible` makes no AI SDK provider.');
  return provider.languageModel(modelId);
}
