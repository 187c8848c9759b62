import type { FinishReason, ModelUsage } from '@holdfast/core';
import type { FinishReasonPart, TokenCount, UsagePart } from './specification.ts';

/** Reads the finish reason of any specification version. */
export function toUnifiedReason(reason: FinishReasonPart): string {
  return typeof reason === 'string' ? reason : reason.unified;
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['tool-calls', 'tool-calls'],
  ['length', 'length'],
  // v4: the provider's stream was interrupted, so the message may be cut off, as with `length`.
  ['interrupted', 'length'],
  ['content-filter', 'content-filter'],
]);

export function toFinishReason(unified: string): FinishReason {
  return reasons.get(unified) ?? 'other';
}

/** `undefined` if the provider reports no usage. */
export function toUsage(usage: UsagePart | undefined): ModelUsage | undefined {
  const inputTokens = toCount(usage?.inputTokens);
  const outputTokens = toCount(usage?.outputTokens);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

function toCount(count: TokenCount): number | undefined {
  const total = typeof count === 'object' ? count.total : count;
  return typeof total === 'number' && Number.isFinite(total) ? total : undefined;
}
