import type { CallFacts, FactsSource, Json, PlaceView, PreparedCall, Tool } from '@holdfast/core';
import { copyJson, describeThrown } from '@holdfast/core/internal';

/** A call whose facts are computed on first access. */
export class DescribedCall implements PreparedCall {
  readonly id: string;
  readonly tool: Tool;
  readonly input: Json;
  readonly #source: FactsSource;
  readonly #place: PlaceView;
  #facts: CallFacts | undefined;

  constructor({ id, tool, input }: PreparedCall, source: FactsSource, place: PlaceView) {
    this.id = id;
    this.tool = tool;
    this.input = input;
    this.#source = source;
    this.#place = place;
    // Private fields stay writable.
    Object.freeze(this);
  }

  get facts(): CallFacts {
    this.#facts ??= this.#make();
    return this.#facts;
  }

  /** The facts computed so far, if any. */
  static madeOf(call: PreparedCall): CallFacts | undefined {
    return #facts in call ? call.#facts : undefined;
  }

  /** Drops the facts and returns them; the next access computes them again. */
  static forget(call: PreparedCall): CallFacts | undefined {
    if (!(#facts in call)) return undefined;
    const before = call.#facts;
    call.#facts = undefined;
    return before;
  }

  #make(): CallFacts {
    let why: string;
    try {
      const copied = copyJson(this.#source.describe(this, this.#place));
      // The type of the source says that they are facts.
      if (copied.ok) return copied.value as unknown as CallFacts;
      why = copied.problem;
    } catch (thrown) {
      why = describeThrown(thrown);
    }
    return unclear(`the effects of \`${this.tool.name}\` could not be determined: ${why}`);
  }
}

const none: readonly never[] = Object.freeze([]);

function unclear(reason: string): CallFacts {
  return Object.freeze({
    runs: none,
    reads: none,
    writes: none,
    deletes: none,
    hosts: none,
    untrusted: false,
    unclear: Object.freeze([Object.freeze({ kind: 'program' as const, reason })]),
  });
}
