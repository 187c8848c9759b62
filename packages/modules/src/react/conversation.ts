import type { Json, JsonObject, Message } from '@holdfast/core';

/**
 * The messages of a conversation by round: a message of the model and the answers to it. If the conversation is too long, the oldest rounds
 * are left out.
 */
export class Conversation {
  readonly #start: readonly Message[];
  readonly #rounds: Message[][];
  #leftOut: number;
  #sent: Message[];

  /** `start` precedes all rounds and is never left out. */
  constructor(start: readonly Message[], rounds: readonly (readonly Message[])[] = [], leftOut = 0) {
    this.#start = start;
    this.#rounds = rounds.map((round) => [...round]);
    this.#leftOut = leftOut;
    this.#sent = this.#collect();
  }

  /** The messages for the model. The same array grows until a round is left out; its items never change. */
  get sent(): readonly Message[] {
    return this.#sent;
  }

  /** All messages, including those left out. */
  get history(): readonly Message[] {
    return Object.freeze([...this.#start, ...this.#rounds.flat()]);
  }

  /** The number of rounds left out. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Starts a round. */
  begin(message: Message): void {
    this.#rounds.push([message]);
    this.#sent.push(message);
  }

  /** Adds to the newest round. */
  add(message: Message): void {
    const newest = this.#rounds.at(-1);
    if (newest === undefined) this.begin(message);
    else {
      newest.push(message);
      this.#sent.push(message);
    }
  }

  /** Leaves out the oldest round. Returns false if only the newest is left, which the model needs to make progress. */
  leaveOutOldest(): boolean {
    if (this.#leftOut >= this.#rounds.length - 1) return false;
    this.#leftOut += 1;
    this.#sent = this.#collect();
    return true;
  }

  /** The arguments of the constructor. */
  toJSON(): JsonObject {
    // Messages are JSON, but their interfaces have no index signature.
    return { start: this.#start, rounds: this.#rounds, leftOut: this.#leftOut } as unknown as JsonObject &
      Record<string, Json>;
  }

  #collect(): Message[] {
    return [...this.#start, ...this.#rounds.slice(this.#leftOut).flat()];
  }
}
