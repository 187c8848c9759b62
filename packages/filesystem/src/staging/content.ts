import { HoldfastError } from '@holdfast/core';
import { showPath } from '../paths/paths.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The version of a file: the SHA-256 of its content, so that equal content has equal versions in every backend and process. */
export async function contentVersion(bytes: Uint8Array): Promise<string> {
  // These arrays are private copies, never shared memory, which `digest` rejects.
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  let text = '';
  for (const byte of new Uint8Array(digest)) text += byte.toString(16).padStart(2, '0');
  return text;
}

/**
 * The bytes of written content, copied so that the tool cannot change them later.
 *
 * @throws HoldfastError `file.invalid` for anything but text or bytes, and for text with lone surrogates.
 */
export function toBytes(content: string | Uint8Array, path: string): Uint8Array {
  if (content instanceof Uint8Array) return new Uint8Array(content);
  if (typeof content !== 'string') {
    throw new HoldfastError('file.invalid', `The content of \`${showPath(path)}\` must be a string or a Uint8Array.`, {
      data: { reason: 'content' },
    });
  }
  if (!content.isWellFormed()) {
    throw new HoldfastError(
      'file.invalid',
      `The content of \`${showPath(path)}\` has lone surrogates, which UTF-8 cannot encode. Write bytes instead.`,
      { data: { reason: 'content' } },
    );
  }
  return encoder.encode(content);
}

/** The text of UTF-8 bytes, including a byte order mark; `undefined` for other bytes and for text with NUL. */
export function toText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    // A fatal TextDecoder reports invalid UTF-8 only by throwing.
    return undefined;
  }
}
