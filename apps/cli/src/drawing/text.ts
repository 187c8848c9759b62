/** `2026-05-17 09:30:12.250 UTC`. */
export function formatTime(atMs: number): string {
  // A log may hold any number; an invalid time must not end the report.
  const time = new Date(atMs);
  return Number.isNaN(time.getTime())
    ? `at ${atMs} ms`
    : `${time.toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}
