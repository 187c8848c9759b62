import type { Landing } from './backend.ts';
import type { Source } from './reader.ts';
import type { Reservations } from './reservations.ts';
import type { Staging } from './staging.ts';

/** What a call's overlay lies over and commits to: the files of a backend, or the overlay of the call that it is nested in. */
export interface Ground {
  /** Looking at it leaves no trace. */
  readonly content: Source;
  /** Of the calls that commit to this ground. */
  readonly reservations: Reservations;
  /** Keys that no tool may change, beside those that their names tell. */
  protectedTargets(): Promise<readonly string[]>;
  /**
   * Has `end` called when the ground ends first, until the answer is called.
   *
   * @throws HoldfastError `context.closed`.
   */
  enter(end: () => void): () => void;
  /** Keeps others that share the files from committing until the answer is called. @throws HoldfastError `file.busy`. */
  lock(): Promise<() => void>;
  /** Does all of a commit that can fail early and shows nowhere. `mark`: as `ResourceTransaction.prepare` says. */
  prepare(staging: Staging, mark?: string): Promise<Landing>;
}
