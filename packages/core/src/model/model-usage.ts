import type { ModelUsage } from './model.ts';

/** Reads foreign token counts: an invalid count is 0; `undefined` if both are invalid. */
export function toModelUsage(usage: unknown): ModelUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { inputTokens, outputTokens } = usage as { readonly [Key in keyof ModelUsage]?: unknown };
  if (!isCount(inputTokens) && !isCount(outputTokens)) return undefined;
  return Object.freeze({
    inputTokens: isCount(inputTokens) ? inputTokens : 0,
    outputTokens: isCount(outputTokens) ? outputTokens : 0,
  });
}

function isCount(tokens: unknown): tokens is number {
  return Number.isSafeInteger(tokens) && Number(tokens) >= 0;
}
