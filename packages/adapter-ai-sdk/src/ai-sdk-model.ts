import {
  type Clock,
  HoldfastError,
  type JsonObject,
  type Model,
  type ModelEvent,
  type ModelRequest,
  systemClock,
  type ToolDeclaration,
} from '@holdfast/core';
import { Conversation } from './conversation.ts';
import { type LoweredKeyword, lowerSchema } from './lower-schema.ts';
import { type LoweringTargetName, takesOutputBesideTools, targetsOf } from './lowering-targets.ts';
import { MessageContent } from './message-content.ts';
import { toModelFailure } from './model-failure.ts';
import { readStream } from './read-stream.ts';
import { withRetries } from './retry.ts';
import type { AiSdkCallOptions, AiSdkModel } from './specification.ts';

/** A schema that lost keywords for a provider; replies are still validated against the original. */
export interface LoweredSchema {
  /** The tool whose input schema it is; absent for a request's `output` schema. */
  readonly tool?: string | undefined;
  readonly lowered: readonly LoweredKeyword[];
}

export interface AiSdkModelOptions {
  /** Retries of a failed request. Integer, at least 0; default 2. */
  readonly maxRetries?: number;
  /** Times the delays between retries. Default: the system clock. */
  readonly clock?: Clock;
  /** From 0 to 1, spreads the delays. Default `Math.random`. */
  readonly random?: () => number;
  /** Called once for each schema that was lowered for the provider. */
  readonly onLowered?: (lowered: LoweredSchema) => void;
}

/**
 * Wraps an AI SDK language model object as a model. Only translates, and retries requests that fail before their first event. Arguments
 * of calls stay text, for the executor to parse.
 *
 * A request throws `model.rate_limited`, `model.overloaded`, `model.unauthorized`, `model.context_overflow`, `model.request_invalid` or
 * `model.failed`, with `data: { status, retryAfterMs }`, each a number or null; a canceled request throws the reason of its signal.
 *
 * @throws HoldfastError `options.invalid` when `model` is not an object of specification v2, v3 or v4.
 */
export function aiSdkModel(model: AiSdkModel, options: AiSdkModelOptions = {}): Model {
  checkModel(model);
  const { maxRetries = 2, clock = systemClock, random = Math.random, onLowered } = options;
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new HoldfastError('options.invalid', `\`maxRetries\` must be an integer of at least 0, got ${maxRetries}.`, {
      data: { maxRetries },
    });
  }
  const id = `${model.provider}:${model.modelId}`;
  const conversation = new Conversation(model.provider);
  const translator = new SchemaTranslator(model, onLowered);

  return {
    id,
    stream(request) {
      const begin = () => {
        const content = new MessageContent(model.provider);
        return {
          events: ask(model, toCallOptions(request, { conversation, translator }), { content, signal: request.signal }),
          toFailure(thrown: unknown) {
            const failure = toModelFailure(thrown, { model: id, clock });
            return content.hasProviderCall ? { ...failure, retryable: false } : failure;
          },
        };
      };
      return withRetries(begin, { maxRetries, clock, random, signal: request.signal, deadline: request.deadline });
    },
  };
}

async function* ask(
  model: AiSdkModel,
  options: AiSdkCallOptions,
  reading: { readonly content: MessageContent; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent, void, undefined> {
  reading.signal.throwIfAborted();
  const { stream } = await model.doStream(options);
  yield* readStream(stream, reading);
}

interface Translation {
  readonly conversation: Conversation;
  readonly translator: SchemaTranslator;
}

function toCallOptions(
  { messages, tools, signal, output, maxTokens }: ModelRequest,
  { conversation, translator }: Translation,
): AiSdkCallOptions {
  return {
    prompt: conversation.toPrompt(messages),
    abortSignal: signal,
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => translator.toTool(tool)) }),
    ...(output === undefined ? {} : translator.toOutput(output, tools.length > 0)),
  };
}

/** Lowers schemas for the provider, each once. */
class SchemaTranslator {
  readonly #targets: { readonly input: LoweringTargetName; readonly output: LoweringTargetName };
  readonly #strict: { readonly strict?: false };
  readonly #besideTools: boolean;
  readonly #onLowered: AiSdkModelOptions['onLowered'];
  readonly #tools = new WeakMap<ToolDeclaration, object>();
  readonly #outputs = new WeakMap<JsonObject, OutputOptions>();
  readonly #withheld = new WeakSet<JsonObject>();

  constructor(model: AiSdkModel, onLowered: AiSdkModelOptions['onLowered']) {
    const { provider, specificationVersion } = model;
    this.#targets = targetsOf(provider);
    this.#besideTools = takesOutputBesideTools(model);
    // By default, OpenAI's Responses API treats a tool as strict and makes every optional parameter required.
    this.#strict = specificationVersion !== 'v2' && provider.endsWith('.responses') ? { strict: false } : {};
    this.#onLowered = onLowered;
  }

  toTool(declaration: ToolDeclaration): object {
    const known = this.#tools.get(declaration);
    if (known !== undefined) return known;
    const { name, description, inputSchema } = declaration;
    const { schema, lowered } = lowerSchema(inputSchema, this.#targets.input);
    if (lowered.length > 0) this.#onLowered?.({ tool: name, lowered });
    const tool = { type: 'function', name, description, inputSchema: schema, ...this.#strict };
    this.#tools.set(declaration, tool);
    return tool;
  }

  toOutput(output: JsonObject, hasTools: boolean): OutputOptions {
    if (hasTools && !this.#besideTools) {
      if (!this.#withheld.has(output)) this.#onLowered?.({ lowered: withheld });
      this.#withheld.add(output);
      return {};
    }
    const known = this.#outputs.get(output);
    if (known !== undefined) return known;
    const { schema, lowered, strict } = lowerSchema(output, this.#targets.output);
    if (lowered.length > 0) this.#onLowered?.({ lowered });
    const options = {
      responseFormat: { type: 'json', name: 'output', schema },
      ...(strict ? {} : { providerOptions: withoutStrictMode }),
    };
    this.#outputs.set(output, options);
    return options;
  }
}

type OutputOptions = Pick<AiSdkCallOptions, 'responseFormat' | 'providerOptions'>;

const withheld: readonly LoweredKeyword[] = [
  {
    path: '',
    keyword: 'type',
    reason: 'the whole schema is left out: the provider does not accept one together with tools',
  },
];

// The AI SDK asks for strict mode by default, which would reject this schema. Each provider reads only its own key.
const withoutStrictMode = {
  openai: { strictJsonSchema: false },
  azure: { strictJsonSchema: false },
  anthropic: { structuredOutputMode: 'jsonTool' },
};

const versions: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

function checkModel(model: unknown): asserts model is AiSdkModel {
  if (typeof model === 'object' || typeof model === 'function') {
    if (model !== null && 'doStream' in model && typeof model.doStream === 'function') {
      const version = 'specificationVersion' in model ? model.specificationVersion : undefined;
      if (versions.has(version)) return;
      throw unsupported(`a model of specification \`${String(version)}\``);
    }
  }
  throw unsupported(
    typeof model === 'string' ? `the string \`${model}\`` : `a value of type ${model === null ? 'null' : typeof model}`,
  );
}

function unsupported(what: string): HoldfastError {
  return new HoldfastError(
    'options.invalid',
    `\`aiSdkModel\` requires a language model object of AI SDK specification v2, v3 or v4, such as \`openai('gpt-5')\` of \`@ai-sdk/openai\` 2 or later; got ${what}.`,
    { data: { option: 'model' } },
  );
}
