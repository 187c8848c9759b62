/** A check of the suite that a saver does not pass. */
export interface Difference {
  /** The saver's name in the test that runs the suite. */
  readonly saver: string;
  /** The check's title after those of the groups that it is in. */
  readonly check: string;
  readonly reason: string;
}

/** LangGraph's own, under a name by which the suite does not know it: it leaves a check out for the one that it knows. */
export const peer = 'MemorySaver of LangGraph.js';

/**
 * Every check that fails, and why. A test fails when another one does, and when one of these passes.
 * Ours pass them all; the one here shows that the suite finds something.
 */
export const differences: readonly Difference[] = [
  {
    saver: peer,
    check: 'put > should only store channel_values that have changed (based on newVersions)',
    reason: 'It keeps every checkpoint whole, whatever has changed since the one before.',
  },
];
