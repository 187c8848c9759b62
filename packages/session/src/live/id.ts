import { HoldfastError } from '@holdfast/core';

/** A session id that sorts by time, in UTC to the second. */
export function createSessionId(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-').replace('T', '-');
  return `${time}-${randomDigits(4)}`;
}

/** 64 random bits. */
export function createNonce(): string {
  return randomDigits(8);
}

/** @throws HoldfastError `options.invalid`. */
export function checkNonce(nonce: unknown): void {
  if (typeof nonce === 'string' && /^[0-9A-Za-z]{0,64}$/.test(nonce)) return;
  throw new HoldfastError('options.invalid', '`nonce` must be at most 64 letters and digits.');
}

// For uniqueness, not secrecy: the first use of `crypto` in a process takes 3 ms.
function randomDigits(bytes: number): string {
  let digits = '';
  while (digits.length < 2 * bytes)
    digits += Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return digits.slice(0, 2 * bytes);
}
