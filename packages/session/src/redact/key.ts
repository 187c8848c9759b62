import { hkdfSync } from 'node:crypto';
import { HoldfastError } from '@holdfast/core';

const minKeyBytes = 16;

/** Derives a key for one use from the host's key; neither reveals the other, nor the host's. */
export function deriveKey(key: string | Uint8Array, use: 'mask' | 'seal'): Uint8Array {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : Uint8Array.from(key);
  if (bytes.length < minKeyBytes) {
    throw new HoldfastError(
      'options.invalid',
      `\`key\` must have at least ${minKeyBytes} bytes, got ${bytes.length}: a guessable key reveals secrets through their masks.`,
    );
  }
  return new Uint8Array(hkdfSync('sha256', bytes, '', `holdfast/${use}`, 32));
}
