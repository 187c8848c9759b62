import type { AiSdkModel } from './specification.ts';

/** What a provider's schema language can say. Data, so that a change of a provider is a change of one line. */
export interface LoweringTarget {
  /** Where the rules are written. */
  readonly source: string;
  /** Keywords that are sent. Absent: all. */
  readonly keywords?: ReadonlySet<string>;
  /** Values of `format` that are sent. Absent: all. */
  readonly formats?: ReadonlySet<string>;
  /** Keywords that may have only these values. */
  readonly values?: ReadonlyMap<string, readonly unknown[]>;
  /** Every object must say `additionalProperties: false`. */
  readonly closed?: boolean;
  /** Every property must be required. A schema with an optional one is sent as it is, without the provider's strict mode. */
  readonly allRequired?: boolean;
  /** `$ref` must be written out. */
  readonly inlineReferences?: boolean;
  /** No schema may contain itself. */
  readonly finite?: boolean;
  /** The root must be a plain object, without a choice between schemas. */
  readonly plainRoot?: boolean;
}

export type LoweringTargetName = 'openai' | 'anthropic' | 'google' | 'tool-input' | 'none';

const common = [
  'type',
  'description',
  'title',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
];
const references = ['$ref', '$defs', 'definitions'];

export const loweringTargets: Readonly<Record<LoweringTargetName, LoweringTarget>> = {
  openai: {
    source: 'OpenAI, Structured model outputs, "Supported schemas" (strict mode)',
    keywords: new Set([
      ...common,
      ...references,
      ...[
        'pattern',
        'format',
        'minimum',
        'maximum',
        'exclusiveMinimum',
        'exclusiveMaximum',
        'multipleOf',
        'minItems',
        'maxItems',
      ],
    ]),
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
    closed: true,
    allRequired: true,
    plainRoot: true,
  },
  anthropic: {
    source: 'Anthropic, Structured outputs, "JSON Schema limitations"',
    keywords: new Set([...common, ...references, 'allOf', 'default', 'format', 'minItems']),
    formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
    values: new Map([['minItems', [0, 1]]]),
    closed: true,
    finite: true,
  },
  google: {
    source: 'Google, Gemini API, "Structured output" and "Schema"; the AI SDK providers before v4 leave out `$ref`',
    keywords: new Set([
      ...common.filter((keyword) => keyword !== 'const'),
      'allOf',
      'oneOf',
      'format',
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minimum',
      'maximum',
      'pattern',
    ]),
    inlineReferences: true,
  },
  'tool-input': {
    source: 'OpenAI, Function calling, and Anthropic, Tool use: any JSON Schema below a root of type `object`',
    plainRoot: true,
  },
  none: { source: 'JSON Schema 2020-12' },
};

/**
 * Whether a request may have both tools and a schema of the answer. Groq refuses that, and so does Google for what came before
 * Gemini 3. The AI SDK's provider for Anthropic has left the tools out then in its versions 2.0, until a late one.
 *
 * Source: vercel/ai#9789, vercel/ai#10023, vercel/ai#16540.
 */
export function takesOutputBesideTools({
  provider,
  modelId,
  specificationVersion,
}: Pick<AiSdkModel, 'provider' | 'modelId' | 'specificationVersion'>): boolean {
  if (provider.includes('anthropic')) return specificationVersion !== 'v2';
  if (/^groq(?:\.|$)/.test(provider)) return false;
  return !/^google(?:\.|$)/.test(provider) || /gemini-(?:[3-9]|[1-9][0-9])/.test(modelId);
}

/** By the beginning of what models call their provider, e.g. `openai.responses`. Unknown providers get schemas as they are. */
export function targetsOf(provider: string): {
  readonly input: LoweringTargetName;
  readonly output: LoweringTargetName;
} {
  // Anthropic's models are sold by others too: `vertex.anthropic.messages`.
  if (provider.includes('anthropic')) return { input: 'tool-input', output: 'anthropic' };
  if (/^(?:openai|azure)(?:\.|$)/.test(provider)) return { input: 'tool-input', output: 'openai' };
  if (/^google(?:\.|$)/.test(provider)) return { input: 'google', output: 'google' };
  return { input: 'none', output: 'none' };
}
