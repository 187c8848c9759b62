const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes text; `undefined` if not UTF-8, or with a NUL. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder gives no details.
    return undefined;
  }
}
