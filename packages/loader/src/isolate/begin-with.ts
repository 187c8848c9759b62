import type { ToolContext } from '@holdfast/core';

/**
 * Begins a call when what it needs is there, and gives that. Rejects at once when the call has to stop before; what comes too late, or
 * is there for a call that cannot begin, goes to `release`.
 */
export async function beginWith<Needed>(
  preparing: Promise<Needed>,
  { signal, begin }: Pick<ToolContext, 'signal' | 'begin'>,
  release: (needed: Needed) => void = () => undefined,
): Promise<Needed> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const needed = await Promise.race([preparing, stopped.promise]);
    await begin();
    return needed;
  } catch (thrown) {
    // Where that is what failed, there is nothing to release.
    void preparing.then(release, () => undefined);
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
