import type { LlamaModel, Token } from 'node-llama-cpp';

/** Bytes of one character that may still follow. */
const longestCharacter = 4;
/** Previous tokens, which the tokenizer needs to decide on a leading space. */
const remembered = 8;

/** Decodes a stream of tokens; characters split across tokens are emitted whole. */
export class TokenText {
  readonly #model: LlamaModel;
  #pending: Token[] = [];
  #last: Token[] = [];

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  /** The text that is complete after this token. */
  add(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, false, this.#last);
    return text.endsWith('\u{FFFD}') && this.#pending.length < longestCharacter ? '' : this.#flush(text);
  }

  /** The remaining text. */
  end(): string {
    return this.#pending.length === 0 ? '' : this.#flush(this.#model.detokenize(this.#pending, false, this.#last));
  }

  #flush(text: string): string {
    this.#last = [...this.#last, ...this.#pending].slice(-remembered);
    this.#pending = [];
    return text;
  }
}
