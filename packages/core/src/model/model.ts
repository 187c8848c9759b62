import type { Deadline } from '../basics/clock.ts';
import type { Json, JsonObject } from '../basics/json.ts';

/** A tool as offered to a model. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A call requested by a model. Untrusted. */
export interface ToolCall {
  /** Absent if the provider gives none; the executor then creates one. */
  readonly id?: string | undefined;
  readonly name: string;
  /** JSON text if the provider gives text, else a decoded value. */
  readonly arguments: unknown;
}

/** One message of a conversation. `tool` answers the call `callId` of the preceding assistant message with the outcome's `text`. */
export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly (ToolCall & { readonly id: string })[];
      /** Opaque; sent back verbatim. */
      readonly providerMetadata?: Json | undefined;
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly success: boolean;
      readonly text: string;
    };

/** A request for one message. */
export interface ModelRequest {
  /** The whole conversation. The array grows between requests; its items never change. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  /** Aborted when the run is over and the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** JSON Schema for the final message. The caller validates the reply. */
  readonly output?: JsonObject | undefined;
  /** Maximum answer length in tokens; a longer answer is cut and ends with `length`. Ignored by models that do not count tokens. */
  readonly maxTokens?: number | undefined;
  /** When the answer is due; adapters stop retrying then. Absent: no end. */
  readonly deadline?: Deadline | undefined;
}

/** Tokens of one request or of a whole run, as counted by the provider. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why a message ended. After `length` and `content-filter` it is incomplete, and its calls must not run. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

/**
 * Why a message is incomplete. `no-finish`: its stream ended without `finish`, or finished without a reason within a call's arguments.
 */
export type CutReason = Extract<FinishReason, 'length' | 'content-filter'> | 'no-finish';

/** A part of a streamed message. Text and calls come in any order; `finish` comes once, last. */
export type ModelEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | ({ readonly type: 'tool-call' } & ToolCall)
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly usage?: ModelUsage | undefined;
      readonly providerMetadata?: Json | undefined;
    };

/** Produces messages. A stream ends with exactly one `finish`; an error is a model error. */
export interface Model {
  /** For people and logs, `provider:model`. */
  readonly id: string;
  /** False if it cannot be offered tools; a loop may then describe them in the text. Default true. */
  readonly callsTools?: boolean;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
