import type { JsonObject } from './json.ts';
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
  /** JSON Schema of what is written of a call of this tool; without spaces, in the order of its properties. */
  toCallSchema(tool: ToolDeclaration): JsonObject;
  /** What was written as a call; `undefined` where it can be read as none. */
  readCall(text: string): ToolCall | undefined;
}
