import type { JsonObject } from '../basics/json.ts';
import type { Message, ToolCall, ToolDeclaration } from './model.ts';

/** A part of a prompt: text as it stands, whatever it looks like, or one special token by its own name. */
export type PromptPart = string | { readonly special: string };

/**
 * How a model that was trained on a format of its own is written to and read, where no chat template says it. It only translates.
 */
export interface ConversationFormat {
  /** The conversation, up to where the next message begins. */
  toPrompt(messages: readonly Message[], tools: readonly ToolDeclaration[]): readonly PromptPart[];
  /** The special token that begins a call. */
  readonly call: string;
  /** The special token that begins a text. */
  readonly say: string;
  /** How sure a model has to be for a call, where it is to choose between the two: a share of 0 to 1. Default 0.5: it is the likelier one. */
  readonly callShare?: number;
  /** JSON Schema of what is written of a call of this tool; without spaces, in the order of its properties. */
  toCallSchema(tool: ToolDeclaration): JsonObject;
  /** For models that only copy: where the texts and numbers of a call have to stand. Left out: they may be anything. */
  quotedTexts?(messages: readonly Message[]): readonly string[];
  /** What was written as a call; `undefined` where it can be read as none. */
  readCall(text: string): ToolCall | undefined;
}
