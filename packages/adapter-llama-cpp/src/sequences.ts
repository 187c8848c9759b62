import type { LlamaContextSequence, Token } from 'node-llama-cpp';

/** Receives a sequence that became free. */
type Waiting = (sequence: LlamaContextSequence) => void;

/** The sequences of a context: one answer each, further requests wait in order. */
export class Sequences {
  readonly #free: LlamaContextSequence[];
  readonly #all: number;
  readonly #waiting: Waiting[] = [];
  #whenIdle: (() => void)[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = [...sequences];
    this.#all = sequences.length;
  }

  /** Runs `work` with a sequence of its own. Rejects with the reason of `stopped` if that fires first. */
  async use(
    tokens: readonly Token[],
    stopped: AbortSignal,
    work: (sequence: LlamaContextSequence) => Promise<void>,
  ): Promise<void> {
    const sequence = await this.#take(tokens, stopped);
    try {
      await work(sequence);
    } finally {
      this.#give(sequence);
    }
  }

  /** Resolves when all sequences are free. */
  idle(): Promise<void> {
    if (this.#free.length === this.#all) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  async #take(tokens: readonly Token[], stopped: AbortSignal): Promise<LlamaContextSequence> {
    stopped.throwIfAborted();
    const free = this.#pick(tokens);
    if (free !== undefined) return free;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = (sequence) => {
        stopped.removeEventListener('abort', leave);
        resolve(sequence);
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(stopped.reason as Error);
      };
      stopped.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #give(sequence: LlamaContextSequence): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(sequence);
      return;
    }
    this.#free.push(sequence);
    if (this.#free.length < this.#all) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle = [];
  }

  /** The free sequence that shares the longest prefix: a growing conversation is not evaluated again. */
  #pick(tokens: readonly Token[]): LlamaContextSequence | undefined {
    const [best] = this.#free
      .map((sequence) => ({ sequence, common: sequence.compareContextTokens([...tokens]).firstDifferentIndex }))
      .sort((one, other) => other.common - one.common);
    if (best === undefined) return undefined;
    this.#free.splice(this.#free.indexOf(best.sequence), 1);
    return best.sequence;
  }
}
