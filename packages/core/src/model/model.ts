import type { Deadline } from '../basics/clock.ts';
import type { Json, JsonObject } from '../basics/json.ts';

/** A tool as a model is offered it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** What a model asked for. Untrusted. */
export interface ToolCall {
  /** Absent when the provider gives none; the executor then makes one. */
  readonly id?: string | undefined;
  readonly name: string;
  /** JSON text where the provider gives text, else a decoded value. */
  readonly arguments: unknown;
}

/** One message of a conversation. `tool` answers the call `callId` of the assistant's message before it; `text` is the outcome's. */
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

/** What a model is asked for: one message. */
export interface ModelRequest {
  /** The whole conversation. The array grows between requests and its old items never change. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  /** Fires when the run is over: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** JSON Schema of an object that the message's text has to be the JSON of. Whoever asks validates what comes back. */
  readonly output?: JsonObject | undefined;
  /** Longest answer, in tokens; a longer one is cut and ends with `length`. A model that counts no tokens answers whole. */
  readonly maxTokens?: number | undefined;
  /** When the answer has to be there; an adapter that tries again waits no longer. Absent: no end. */
  readonly deadline?: Deadline | undefined;
}

/** Tokens of one request, or of all requests of a run, as the provider counts them. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why a message ended. After `length` and `content-filter` it was cut, and its calls must not run. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

/**
 * Why a message is not whole. `no-finish`: its stream ended without `finish`, or finished without a reason in the middle of a call's
 * arguments.
 */
export type CutReason = Extract<FinishReason, 'length' | 'content-filter'> | 'no-finish';

/** A part of a message on its way. Text and calls come in any order; `finish` comes once, last. */
export type ModelEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | ({ readonly type: 'tool-call' } & ToolCall)
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly usage?: ModelUsage | undefined;
      readonly providerMetadata?: Json | undefined;
    };

/** What is asked for the next message. A stream ends with exactly one `finish`; whatever it throws is a model error. */
export interface Model {
  /** For people and logs, `provider:model`. */
  readonly id: string;
  /** Whether it can be offered tools; one that cannot is shown them in the text by who knows how. Default true. */
  readonly callsTools?: boolean;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
