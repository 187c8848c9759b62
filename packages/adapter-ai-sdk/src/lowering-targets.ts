import type { AiSdkModel } from './specification.ts';

/** The JSON Schema subset of a provider. Plain data: a provider's change is a one-line edit. */
export interface LoweringTarget {
  /** The document that specifies the rules. */
  readonly source: string;
  /** Supported keywords. Absent: all. */
  readonly keywords?: ReadonlySet<string>;
  /** Supported values of `format`. Absent: all. */
  readonly formats?: ReadonlySet<string>;
  /** Keywords limited to these values. */
  readonly values?: ReadonlyMap<string, readonly unknown[]>;
  /** Every object needs `additionalProperties: false`. */
  readonly closed?: boolean;
  /** Every property must be required. A schema with an optional one is sent unchanged, without the provider's strict mode. */
  readonly allRequired?: boolean;
  /** `$ref` must be inlined. */
  readonly inlineReferences?: boolean;
  /** Recursive schemas are not supported. */
  readonly finite?: boolean;
  /** The root must be a plain object, not a choice between schemas. */
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
 * True if the provider accepts tools and an output schema in one request. Groq rejects that, and so does Google before
 * Gemini 3. The AI SDK's Anthropic provider drops the tools in most 2.x versions.
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

/** Matched by the prefix of the model's provider, e.g. `openai.responses`. Unknown providers get schemas unchanged. */
export function targetsOf(provider: string): {
  readonly input: LoweringTargetName;
  readonly output: LoweringTargetName;
} {
  // Other providers host Anthropic's models too: `vertex.anthropic.messages`.
  if (provider.includes('anthropic')) return { input: 'tool-input', output: 'anthropic' };
  if (/^(?:openai|azure)(?:\.|$)/.test(provider)) return { input: 'tool-input', output: 'openai' };
  if (/^google(?:\.|$)/.test(provider)) return { input: 'google', output: 'google' };
  return { input: 'none', output: 'none' };
}
