import type { Json } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import type { NodeId } from './types.ts';

/** The first `length` characters of a text, without splitting a surrogate pair, and the number of characters left out. */
export interface Cut {
  readonly text: string;
  readonly leftOut: number;
}

export function cut(text: string, length: number): Cut {
  if (text.length <= length) return { text, leftOut: 0 };
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(length - 1));
  const kept = text.slice(0, isHalf ? length - 1 : length);
  return { text: kept, leftOut: text.length - kept.length };
}

/** Shortens a text to `length` characters; ends with `…` if anything was left out. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${cut(text, length - 1).text}…`;
}

/** Formats a text as one printable line of about `length` characters; ends with `…` if anything was left out. */
export function toLine(text: string, length: number): string {
  const { text: kept, leftOut } = cut(text, length);
  return `${toPrintable(kept)}${leftOut === 0 ? '' : '…'}`;
}

/** A string unchanged; any other value as indented JSON. */
export function toBlock(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

const maxIds = 8;

/** `0, 1, 2`; a long list is cut, with the number of the others. */
export function listIds(ids: readonly NodeId[]): string {
  const shown = ids.slice(0, maxIds).map((id) => toLine(String(id), 80));
  const more = ids.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${formatNumber(more)} more`;
}

/** `3 ms`, `1.2 s`, `2 m 05 s`, `3 h 20 m`, `2 d 3 h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${String(minutes % 60).padStart(2, '0')} m`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `1 node`, `10,000 nodes`. */
export function formatCount(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`;
}

function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
