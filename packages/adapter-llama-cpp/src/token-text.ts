import type { LlamaModel, Token } from 'node-llama-cpp';

/** Bytes of one character that may still come. */
const longestCharacter = 4;
/** Tokens before, by which a tokenizer decides about a leading space. */
const remembered = 8;

/** Turns tokens into text as they come; a character that is cut into tokens comes whole. */
export class TokenText {
  readonly #model: LlamaModel;
  #pending: Token[] = [];
  #last: Token[] = [];

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  /** The text that is whole now. */
  add(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, false, this.#last);
    return text.endsWith('\u{FFFD}') && this.#pending.length < longestCharacter ? '' : this.#flush(text);
  }

  /** What is left. */
  end(): string {
    return this.#pending.length === 0 ? '' : this.#flush(this.#model.detokenize(this.#pending, false, this.#last));
  }

  #flush(text: string): string {
    this.#last = [...this.#last, ...this.#pending].slice(-remembered);
    this.#pending = [];
    return text;
  }
}
