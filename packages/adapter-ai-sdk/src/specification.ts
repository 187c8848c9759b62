/**
 * The part of an AI SDK language model that the adapter uses. Declared here instead of imported: the three
 * specification versions live in three major versions of one package, and models of each match this shape.
 *
 * Source: `LanguageModelV2`, `LanguageModelV3` and `LanguageModelV4` of `@ai-sdk/provider` 2, 3 and 4.
 */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  // A method, so parameters are bivariant and the options of every version fit.
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** The part of a `ReadableStream` that the adapter uses. */
export interface AiSdkStream {
  getReader(): AiSdkReader;
}

export interface AiSdkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The options of a model call, as far as the adapter sets them; the same in every version. */
export interface AiSdkCallOptions {
  readonly prompt: readonly object[];
  readonly tools?: readonly object[];
  readonly responseFormat?: object;
  readonly providerOptions?: object;
  readonly abortSignal?: AbortSignal;
  readonly maxOutputTokens?: number;
}

/** Keyed by provider; opaque. */
export type ProviderMetadata = Readonly<Record<string, unknown>>;

interface WithMetadata {
  readonly providerMetadata?: ProviderMetadata;
}

/** A part of a model's stream. Other part types are ignored. */
export type StreamPart =
  | ({
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
    } & WithMetadata)
  | ({ readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string } & WithMetadata)
  | {
      readonly type: 'tool-input-start';
      readonly id: string;
      readonly toolName: string;
      /** v4: how the deltas are encoded; default `json`. */
      readonly inputEncoding?: 'json' | 'text';
      readonly providerExecuted?: boolean;
    }
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly delta: string }
  | ({
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      /** JSON text. */
      readonly input: string;
      readonly providerExecuted?: boolean;
    } & WithMetadata)
  | ({
      readonly type: 'tool-result';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: unknown;
      readonly isError?: boolean;
      readonly preliminary?: boolean;
    } & WithMetadata)
  | ({ readonly type: 'file' | 'reasoning-file'; readonly mediaType: string; readonly data: unknown } & WithMetadata)
  | ({ readonly type: 'custom'; readonly kind: string } & WithMetadata)
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'finish'; readonly finishReason: FinishReasonPart; readonly usage: UsagePart };

/** A string in v2, an object since v3. */
export type FinishReasonPart = string | { readonly unified: string };

/** Numbers in v2, objects since v3. */
export interface UsagePart {
  readonly inputTokens?: TokenCount;
  readonly outputTokens?: TokenCount;
}

export type TokenCount = number | { readonly total?: number | undefined } | undefined;
