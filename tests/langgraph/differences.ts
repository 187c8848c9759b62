/** A check of the suite that a saver fails. */
export interface Difference {
  /** The saver's name in the test that runs the suite. */
  readonly saver: string;
  /** The check's title, prefixed by its groups. */
  readonly check: string;
  readonly reason: string;
}

/** LangGraph's saver under another name: the suite skips a check for the name that it knows. */
export const peer = 'MemorySaver of LangGraph.js';

/**
 * Every check that fails, and why. The test fails if another check fails or one of these passes.
 * Our savers pass all; this one shows that the suite finds problems.
 */
export const differences: readonly Difference[] = [
  {
    saver: peer,
    check: 'put > should only store channel_values that have changed (based on newVersions)',
    reason: 'It keeps every checkpoint whole, whatever has changed since the one before.',
  },
];
