const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text in bytes; `undefined` where they are none: not UTF-8, or with a NUL. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder says no more than this.
    return undefined;
  }
}
