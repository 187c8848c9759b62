import type { CallFacts, PlaceView } from './facts.ts';
import type { PreparedCall } from './policy.ts';

/** Computes the facts of calls for a runner. Created by `createFacts` of `@holdfast/facts`. */
export interface FactsSource {
  readonly view: PlaceView;
  /** Synchronous. `view` is the place above, and also knows the files that the session wrote. An error makes the whole call unclear. */
  describe(call: PreparedCall, view: PlaceView): CallFacts;
}
