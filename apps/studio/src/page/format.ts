/** `12.3 s`, `4 m 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} m ${String(Math.floor(ms / 1_000) % 60).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} m` : `${Math.floor(hours / 24)} days`;
}

/** In the time of the reader. A log may hold any number. */
export function formatTime(atMs: number): string {
  const time = new Date(atMs);
  return Number.isNaN(time.getTime())
    ? ''
    : time.toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
}

/** `2 calls`. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
}
