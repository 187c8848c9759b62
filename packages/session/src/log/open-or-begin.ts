import { isHoldfastError } from '@holdfast/core';
import type { OpenedLog, SessionStore } from './log.ts';

/** Opens an existing log, or begins a new one. */
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
    // Another process was faster: it holds or has already closed the log.
    if (!isHoldfastError(thrown) || thrown.code !== 'log.exists') throw thrown;
    return open();
  }
}
