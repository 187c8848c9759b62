import { HoldfastError, type JsonObject, type ModelEvent, type ModelRequest } from '@holdfast/core';
import type { Llama, LlamaGrammar, LlamaModel as LoadedModel, Token } from 'node-llama-cpp';
import type { Binding } from './binding.ts';
import { type LoweredKeyword, type LoweredSchema, toGrammar } from './grammar.ts';
import type { Sequences } from './sequences.ts';

/** The parts of a loaded model that produce its answers. */
export interface Answering {
  readonly id: string;
  readonly binding: Binding;
  readonly model: LoadedModel;
  readonly sequences: Sequences;
  readonly grammars: Grammars;
  readonly batchSize: number;
  /** Tokens, prompt and answer together. */
  readonly contextSize: number;
  readonly maxTokens: number | undefined;
  /** Temperature alone: no token is filtered out. */
  readonly sampling: { readonly temperature: number; readonly topK: 0; readonly topP: 1; readonly seed?: number };
  readonly constrain: boolean;
}

/** Generates one answer. */
export type Answer = (request: ModelRequest, push: (event: ModelEvent) => void, stopped: AbortSignal) => Promise<void>;

/** The maximum length of the answer in tokens, given the context, the model's options and the request. */
export function roomFor(prompt: readonly Token[], answering: Answering, { maxTokens }: ModelRequest): number {
  const room = answering.contextSize - prompt.length;
  if (room < 1) throw contextOverflow(prompt.length, answering);
  return Math.min(answering.maxTokens ?? room, maxTokens ?? room, room);
}

/** In UTF-16 units. */
const sliceLength = 4096;

/**
 * Rejects input that is far too long before tokenizing it whole: tokenizing cannot be interrupted, and its time may be
 * quadratic in the length of a word.
 */
export function checkLength(texts: readonly string[], answering: Answering): void {
  const { model, contextSize } = answering;
  if (texts.reduce((sum, text) => sum + text.length, 0) <= contextSize) return;
  let tokens = 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; start += sliceLength) {
      tokens += model.tokenize(text.slice(start, start + sliceLength), false).length;
      // Slicing adds some tokens, but never this many.
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
    `\`${id}\` has a context of ${contextSize} tokens for conversation and answer, and the conversation has ${atLeast}${tokens}. Shorten it, offer fewer tools, or use a model with a larger context.`,
    { data: { tokens, contextSize } },
  );
}

interface GrammarUse {
  readonly tools?: readonly string[];
  readonly quoted?: readonly string[] | undefined;
}

/** Grammars, cached by their text: the tools of a conversation stay the same. */
export class Grammars {
  readonly #llama: Llama;
  readonly #onLowered: ((lowered: LoweredSchema) => void) | undefined;
  readonly #known = new Map<string, Promise<LlamaGrammar>>();

  constructor(llama: Llama, onLowered: ((lowered: LoweredSchema) => void) | undefined) {
    this.#llama = llama;
    this.#onLowered = onLowered;
  }

  /** The grammar of JSON that matches one of the schemas; with `quoted`, of values that occur in those texts. */
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

  /** Reports keywords that the binding's own grammar loses. */
  lost(tool: string, lowered: readonly LoweredKeyword[]): void {
    if (lowered.length > 0) this.#onLowered?.({ tools: [tool], lowered });
  }
}

const mostGrammars = 32;
