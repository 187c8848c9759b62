// Facts about providers, without the slow import of the code that calls them.

/** Environment variables with provider keys. Other providers find their own. */
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
/** The prefix of Ollama model names. */
export const ollama = 'ollama';

/** Providers whose models are offered when found. The user answers for each. */
export const offeredProviders = ['openai', 'anthropic', 'google', 'ollama'] as const;
export type OfferedProvider = (typeof offeredProviders)[number];

const providerName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

export interface ProviderModelName {
  readonly provider: string;
  readonly modelId: string;
  /** The package that must be installed. */
  readonly packageName: string;
}

/** The parts of `<provider>:<model>`; `undefined` for other names. */
export function parseProviderModel(name: string): ProviderModelName | undefined {
  // A model name may contain colons, a package name cannot.
  const [, provider = '', modelId = ''] = /^([^:]+):(.+)$/.exec(name) ?? [];
  if (modelId === '' || !providerName.test(provider)) return undefined;
  const fromPackage = provider === ollama ? compatible : provider;
  return { provider, modelId, packageName: provider.includes('/') ? provider : `@ai-sdk/${fromPackage}` };
}
