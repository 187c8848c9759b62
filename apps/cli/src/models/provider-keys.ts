// What is known of providers without the code that asks them, which takes long to load.

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
/** The start of a model's name that an Ollama answers. */
export const ollama = 'ollama';

/** Whose models are offered where one is found. The user says yes or no to each. */
export const offeredProviders = ['openai', 'anthropic', 'google', 'ollama'] as const;
export type OfferedProvider = (typeof offeredProviders)[number];

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
  const fromPackage = provider === ollama ? compatible : provider;
  return { provider, modelId, packageName: provider.includes('/') ? provider : `@ai-sdk/${fromPackage}` };
}
