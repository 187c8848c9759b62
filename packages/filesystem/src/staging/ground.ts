import type { Landing } from './backend.ts';
import type { Source } from './reader.ts';
import type { Reservations } from './reservations.ts';
import type { Staging } from './staging.ts';

/** The base of a call's overlay, to which it commits: the files of a backend, or the overlay of the outer call. */
export interface Ground {
  /** Reading it leaves no trace. */
  readonly content: Source;
  /** The reservations of calls that commit to this ground. */
  readonly reservations: Reservations;
  /** Protected keys in addition to those recognized by name. */
  protectedTargets(): Promise<readonly string[]>;
  /**
   * Registers `end`, to be called if the ground ends first; returns a function that unregisters it.
   *
   * @throws HoldfastError `context.closed`.
   */
  enter(end: () => void): () => void;
  /**
   * Prevents other processes that share the files from committing until the returned function is called. @throws HoldfastError `file.busy`.
   */
  lock(): Promise<() => void>;
  /**
   * Does everything of a commit that can fail early, without visible effects. `mark`: as in
   * `ResourceTransaction.prepare`.
   */
  prepare(staging: Staging, mark?: string): Promise<Landing>;
}
