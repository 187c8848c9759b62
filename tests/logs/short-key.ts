/** A key without the digits of its session and the digest of its arguments. */
export function shortKey(key: string): string {
  return key.replace(/\.[0-9a-f]{16}(?=\/)/, '').replaceAll(/\/[0-9a-f]{32}(?=\/|$)/g, '');
}
