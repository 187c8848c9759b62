import { hkdfSync } from 'node:crypto';
import { HoldfastError } from '@holdfast/core';

const minKeyBytes = 16;

/** A key for one use, made of the host's: who has one of them has neither the other nor the host's. */
export function deriveKey(key: string | Uint8Array, use: 'mask' | 'seal'): Uint8Array {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : Uint8Array.from(key);
  if (bytes.length < minKeyBytes) {
    throw new HoldfastError(
      'options.invalid',
      `\`key\` must have at least ${minKeyBytes} bytes, got ${bytes.length}: who can guess it can guess secrets by their masks.`,
    );
  }
  return new Uint8Array(hkdfSync('sha256', bytes, '', `holdfast/${use}`, 32));
}
