import { isHoldfastError } from '@holdfast/core';
import type { OpenedLog, SessionStore } from './log.ts';

/** The log that `open` finds, or the new one of `begin`. */
export function openOrBegin<Store extends SessionStore>(
  open: () => OpenedLog & { readonly store: Store },
  begin: () => Store,
): OpenedLog & { readonly store: Store } {
  try {
    return open();
  } catch (thrown) {
    if (!isHoldfastError(thrown) || thrown.code !== 'log.missing') throw thrown;
  }
  try {
    return { records: [], store: begin() };
  } catch (thrown) {
    // Another process was faster: it has the log now, or has closed it already.
    if (!isHoldfastError(thrown) || thrown.code !== 'log.exists') throw thrown;
    return open();
  }
}
