import { findToolNameProblem } from '@holdfast/core';
import type { NodeId } from './types.ts';

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Whether `value` can name a node. A text of digits cannot: it would be hard to tell from the number. */
export function isNodeId(value: unknown): value is NodeId {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  if (typeof value !== 'string' || !namePattern.test(value)) return false;
  // Words that mean something to JavaScript: whoever makes an object with a key for each node must never meet them.
  return findToolNameProblem(value.toLowerCase())?.code !== 'tool.name.reserved';
}

/** Nearly every bad id is the number in quotes, which a message shows like the number. */
export function adviseOnNumber(id: unknown): string {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? ' Write the number, without quotes.' : '';
}

/** What `isNodeId` asks for, for messages. */
export const nodeIdRule =
  'a whole number from 0 on, or a letter followed by up to 63 letters, digits, `_` and `-` that is no reserved word';
