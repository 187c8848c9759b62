import { isHoldfastError } from '@holdfast/core';
import type { OpenedLog } from './log.ts';

/** Opens an existing log, or begins a new one. */
export function openOrBegin(open: () => OpenedLog, begin: () => OpenedLog['store']): OpenedLog {
  try {
    return open();
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.code !== 'log.missing') throw thrown;
  }
  try {
    return { records: [], store: begin() };
  } catch (thrown) {
    // Another process was faster: it holds or has already closed the log.
    if (!isHoldfastError(thrown) || thrown.code !== 'log.exists') throw thrown;
    return open();
  }
}
