import type { CallFacts, PlaceView } from './facts.ts';
import type { PreparedCall } from './policy.ts';

/** Makes the facts of calls for a runner. `createFacts` of `@holdfast/facts` makes one. */
export interface FactsSource {
  readonly view: PlaceView;
  /** Synchronous. `view` is the one above, and also knows which files the session wrote. When it throws, the call is unclear as a whole. */
  describe(call: PreparedCall, view: PlaceView): CallFacts;
}
