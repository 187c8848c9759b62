import { HoldfastError } from '@holdfast/core';

/** Checks a reason, which a model or a person reads. @throws HoldfastError `options.invalid`. */
export function checkReason(reason: unknown): void {
  if (reason === undefined || (typeof reason === 'string' && reason.trim() !== '')) return;
  throw new HoldfastError('options.invalid', '`reason` must be a non-empty string.');
}

/** @throws HoldfastError `options.invalid`. */
export function checkMaxCalls(maxCalls: unknown): void {
  if (Number.isSafeInteger(maxCalls) && Number(maxCalls) >= 1) return;
  const message = `\`maxCalls\` must be a positive integer, got \`${describeOption(maxCalls)}\`.`;
  throw new HoldfastError('options.invalid', message);
}

/** Describes an option for a message: options may come from untyped code. */
export function describeOption(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : value === null ? 'null' : typeof value;
}
