import type { Json, JsonObject, Message } from '@holdfast/core';

/** What was said, in rounds: a message of the model and what it was answered. Of a conversation that is too long the oldest are left out. */
export class Conversation {
  readonly #start: readonly Message[];
  readonly #rounds: Message[][];
  #leftOut: number;
  #sent: Message[];

  /** `start` comes before all rounds and always goes along. */
  constructor(start: readonly Message[], rounds: readonly (readonly Message[])[] = [], leftOut = 0) {
    this.#start = start;
    this.#rounds = rounds.map((round) => [...round]);
    this.#leftOut = leftOut;
    this.#sent = this.#collect();
  }

  /** For the model. The same array grows until a round is left out; its items never change. */
  get sent(): readonly Message[] {
    return this.#sent;
  }

  /** All of it, whatever was left out. */
  get history(): readonly Message[] {
    return Object.freeze([...this.#start, ...this.#rounds.flat()]);
  }

  /** How often the oldest round was left out. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Begins a round. */
  begin(message: Message): void {
    this.#rounds.push([message]);
    this.#sent.push(message);
  }

  /** Goes on with the newest round. */
  add(message: Message): void {
    const newest = this.#rounds.at(-1);
    if (newest === undefined) this.begin(message);
    else {
      newest.push(message);
      this.#sent.push(message);
    }
  }

  /** Leaves the oldest round out. Whether there was one: without the newest the model would only ask for the same again. */
  leaveOutOldest(): boolean {
    if (this.#leftOut >= this.#rounds.length - 1) return false;
    this.#leftOut += 1;
    this.#sent = this.#collect();
    return true;
  }

  /** What the constructor takes. */
  toJSON(): JsonObject {
    // Messages are made of JSON; their type does not say so to the compiler.
    return { start: this.#start, rounds: this.#rounds, leftOut: this.#leftOut } as unknown as JsonObject &
      Record<string, Json>;
  }

  #collect(): Message[] {
    return [...this.#start, ...this.#rounds.slice(this.#leftOut).flat()];
  }
}
