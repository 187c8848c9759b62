import { HoldfastError } from '@holdfast/core';

/** A reason goes to a model or a person, who can read nothing but text. @throws HoldfastError `options.invalid`. */
export function checkReason(reason: unknown): void {
  if (reason === undefined || (typeof reason === 'string' && reason.trim() !== '')) return;
  throw new HoldfastError('options.invalid', '`reason` must be a text that is not empty.');
}

/** What an option is, for a message: options may come from code without types. */
export function describeOption(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : value === null ? 'null' : typeof value;
}
