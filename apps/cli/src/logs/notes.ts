import { isPlainObject } from '@holdfast/core';
import { formatArguments } from '../calls/line.ts';
import { toPrintable } from '../terminal/text.ts';
import type { ShownRecord } from './records.ts';

/** What a person has said of a call, and who, where it is known. */
export function describeSaid(
  record: ShownRecord & { readonly type: 'approval-answer' | 'call-resolution' },
): readonly string[] {
  const { by } = record;
  if (by === undefined) return [];
  if (record.type === 'call-resolution') {
    const { type, value, message } = record.resolution;
    const what = type === 'done' ? 'done' : 'not done';
    return [
      `said to be ${what} by ${toPrintable(by)}${value === undefined ? '' : `, with ${formatArguments(value)}`}${message === undefined ? '' : `: ${toPrintable(message)}`}`,
    ];
  }
  const { type, grant, reason } = record.answer;
  const what = type === 'approve' ? (grant === true ? 'approved, and granted,' : 'approved') : 'denied';
  return [`${what} by ${toPrintable(by)}${reason === undefined ? '' : `: ${toPrintable(reason)}`}`];
}

/** A grant that a change of state gave or took. */
export function describeGrant(change: unknown): readonly string[] {
  if (!isPlainObject(change) || change['slice'] !== 'holdfast/grants') return [];
  const { op, key } = change;
  if (op !== 'upsert' && op !== 'remove') return [];
  const name = toPrintable(String(key));
  return [
    op === 'upsert' ? `  ${name} is granted for the session` : `  ${name} is asked for again: its grant was withdrawn`,
  ];
}

const problems = {
  'resource-apply-failed': '',
  'resource-recovery-failed': 'could not be recovered: ',
  'resource-discard-failed': 'What a call had staged could not be cleaned up: ',
  'resource-dispose-failed': 'could not be disposed of: ',
  'close-error': 'When the session was closed: ',
  'subscriber-error': 'An observer of the session failed: ',
} as const;

/** What went wrong beside a call, or with the session. */
export function describeProblem(problem: ShownRecord & { readonly type: keyof typeof problems }): string {
  const resource = 'resource' in problem && problem.resource !== undefined ? `\`${problem.resource}\` ` : '';
  return toPrintable(`${resource}${problems[problem.type]}${problem.message}`);
}
