import { HoldfastError, type JsonObject, type ModelEvent, type ModelRequest } from '@holdfast/core';
import type { Llama, LlamaGrammar, LlamaModel as LoadedModel, Token } from 'node-llama-cpp';
import type { Binding } from './binding.ts';
import { type LoweredKeyword, type LoweredSchema, toGrammar } from './grammar.ts';
import type { Sequences } from './sequences.ts';

/** What one model's answers are made with. */
export interface Answering {
  readonly id: string;
  readonly binding: Binding;
  readonly model: LoadedModel;
  readonly sequences: Sequences;
  readonly grammars: Grammars;
  readonly batchSize: number;
  /** Tokens of prompt and answer together. */
  readonly contextSize: number;
  readonly maxTokens: number | undefined;
  /** With the temperature alone: nothing unlikely is left out. */
  readonly sampling: { readonly temperature: number; readonly topK: 0; readonly topP: 1; readonly seed?: number };
  readonly constrain: boolean;
}

/** Makes one answer. */
export type Answer = (request: ModelRequest, push: (event: ModelEvent) => void, stopped: AbortSignal) => Promise<void>;

/** How many tokens may be written after this prompt: what the context, the model's options and the request leave. */
export function roomFor(prompt: readonly Token[], answering: Answering, { maxTokens }: ModelRequest): number {
  const room = answering.contextSize - prompt.length;
  if (room < 1) throw contextOverflow(prompt.length, answering);
  return Math.min(answering.maxTokens ?? room, maxTokens ?? room, room);
}

/** In UTF-16 units. */
const sliceLength = 4096;

/**
 * Refuses what is far too long before it is turned into tokens as a whole: that cannot be interrupted, and may take time by the square
 * of a word's length.
 */
export function checkLength(texts: readonly string[], answering: Answering): void {
  const { model, contextSize } = answering;
  if (texts.reduce((sum, text) => sum + text.length, 0) <= contextSize) return;
  let tokens = 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; start += sliceLength) {
      tokens += model.tokenize(text.slice(start, start + sliceLength), false).length;
      // A cut may make some tokens more, and never so many.
      if (tokens > 2 * contextSize) throw contextOverflow(tokens, answering, 'more than ');
    }
  }
}

export function contextOverflow(
  tokens: number,
  { id, contextSize }: Answering,
  atLeast: '' | 'more than ' = '',
): HoldfastError {
  return new HoldfastError(
    'model.context_overflow',
    `\`${id}\` can take ${contextSize} tokens with the answer, and the conversation has ${atLeast}${tokens}. Shorten it, offer fewer tools, or use a model with a larger context.`,
    { data: { tokens, contextSize } },
  );
}

interface GrammarUse {
  readonly tools?: readonly string[];
  readonly quoted?: readonly string[] | undefined;
}

/** Grammars by their text: the tools of a conversation stay the same. */
export class Grammars {
  readonly #llama: Llama;
  readonly #onLowered: ((lowered: LoweredSchema) => void) | undefined;
  readonly #known = new Map<string, Promise<LlamaGrammar>>();

  constructor(llama: Llama, onLowered: ((lowered: LoweredSchema) => void) | undefined) {
    this.#llama = llama;
    this.#onLowered = onLowered;
  }

  /** Of JSON that fits one of the schemas; with `quoted`, of values that stand in those texts. */
  of(schemas: readonly JsonObject[], about: GrammarUse = {}): Promise<LlamaGrammar> {
    const { text, lowered } = toGrammar(schemas, about.quoted);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (lowered.length > 0) this.#onLowered?.({ tools: about.tools, lowered });
    const made = this.#llama.createGrammar({ grammar: text });
    this.#known.set(text, made);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostGrammars && oldest !== undefined) this.#known.delete(oldest);
    return made;
  }

  /** Told of what is lost where the binding makes the grammar itself. */
  lost(tool: string, lowered: readonly LoweredKeyword[]): void {
    if (lowered.length > 0) this.#onLowered?.({ tools: [tool], lowered });
  }
}

const mostGrammars = 32;
