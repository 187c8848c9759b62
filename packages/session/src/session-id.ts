/** One that sorts by time, in UTC to the second. */
export function createSessionId(nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-').replace('T', '-');
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `${time}-${[...random].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
