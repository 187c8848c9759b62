import type { Tool } from '@holdfast/core';

/** What a call of `tool`, which has locks, works on: each name once. `undefined`: it cannot tell, so that nothing may run beside it. */
export function lockNamesOf(tool: Tool, input: unknown): readonly string[] | undefined {
  try {
    const locks: unknown = tool.locks?.(input);
    if (Array.isArray(locks) && locks.every((lock) => typeof lock === 'string')) return [...new Set<string>(locks)];
    // A promise comes too late. Nobody hears of its rejection, which must not end the process.
    void Promise.allSettled([locks]);
  } catch {
    // That it cannot tell is all there is to it, whatever it throws.
  }
  return undefined;
}
