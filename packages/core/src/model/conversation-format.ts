import type { JsonObject } from '../basics/json.ts';
import type { Message, ToolCall, ToolDeclaration } from './model.ts';

/** A part of a prompt: literal text, or a special token by name. */
export type PromptPart = string | { readonly special: string };

/**
 * The conversation format of a model that was trained on its own format, without a chat template. It only translates.
 */
export interface ConversationFormat {
  /** The conversation, up to the start of the next message. */
  toPrompt(messages: readonly Message[], tools: readonly ToolDeclaration[]): readonly PromptPart[];
  /** The special token that begins a call. */
  readonly call: string;
  /** The special token that begins a text. */
  readonly say: string;
  /** Minimum probability of a call, 0 to 1, for a model that chooses between call and text. Default 0.5. */
  readonly callShare?: number;
  /** JSON Schema of a call's text for this tool; without spaces, with properties in order. */
  toCallSchema(tool: ToolDeclaration): JsonObject;
  /** For models that only copy: the texts that must contain the texts and numbers of a call. Absent: no restriction. */
  quotedTexts?(messages: readonly Message[]): readonly string[];
  /** Parses the text of a call; `undefined` if it is invalid. */
  readCall(text: string): ToolCall | undefined;
}
