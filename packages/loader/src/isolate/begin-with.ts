import type { ToolContext } from '@holdfast/core';

/**
 * Starts a call once its resource is ready, and returns the resource. Rejects at once if the call is aborted first; a
 * resource that arrives too late, or for a call that cannot start, goes to `release`.
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
    // If preparing failed, there is nothing to release.
    void preparing.then(release, () => undefined);
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
