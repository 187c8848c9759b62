import type { Clock } from '@holdfast/core';

/**
 * The delay that a provider asks for, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as a date.
 * `undefined` if absent or unreadable.
 *
 * Source: RFC 9110, section 10.2.3; `retry-after-ms` is used by OpenAI and Azure.
 */
export function readRetryAfterMs(headers: unknown, clock: Clock): number | undefined {
  const exact = toNumber(readHeader(headers, 'retry-after-ms'));
  if (exact !== undefined) return exact;
  const value = readHeader(headers, 'retry-after');
  if (value === undefined) return undefined;
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - clock.now());
}

function readHeader(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return typeof found?.[1] === 'string' ? found[1].trim() : undefined;
}

function toNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}
