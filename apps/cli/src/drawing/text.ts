import { type Json, type PolicyDecision, toPrintable } from '@holdfast/core';
import type { NodeId } from '@holdfast/orchestrator';
import { describePolicyDecision } from '../calls/line.ts';

/** The first `length` characters of a text, never half of a sign, and how many there were beyond them. */
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

/** One printable line of at most about `length` characters, which ends with `…` where something was left out. */
export function toLine(text: string, length: number): string {
  const { text: kept, leftOut } = cut(text, length);
  return `${toPrintable(kept)}${leftOut === 0 ? '' : '…'}`;
}

/** A text as it is, any other value as JSON of several lines. */
export function toBlock(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

const maxIds = 8;

/** `0, 1, 2`; of many the first ones, and how many more there are. */
export function listIds(ids: readonly NodeId[]): string {
  const shown = ids.slice(0, maxIds).map((id) => toLine(String(id), 80));
  const more = ids.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more.toLocaleString('en-GB')} more`;
}

/** `2026-05-17 09:30:12.250 UTC`. */
export function formatTime(atMs: number): string {
  // A log may hold any number; a time that no calendar has must not end the report.
  const time = new Date(atMs);
  return Number.isNaN(time.getTime())
    ? `at ${atMs} ms`
    : `${time.toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/** `deny by host/deny-tools: Files are kept.` */
export function describeDecision(decision: PolicyDecision): string {
  return toLine(describePolicyDecision(decision), 1_200);
}
