import type { ApprovalAnswer, PendingApproval } from '@holdfast/core';
import type { LineStyle } from '../calls/line.ts';
import type { CallPreview } from '../calls/preview.ts';
import { describeQuestion } from '../calls/question.ts';
import type { InputStream, OutputStream } from '../terminal/host.ts';
import { choose } from '../terminal/prompt.ts';
import { toPrintable } from '../terminal/text.ts';

export interface AskPersonOptions {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly style: LineStyle;
  /** Withdraws the question. */
  readonly signal: AbortSignal;
  /** Called on Ctrl-C. */
  readonly onInterrupt: () => void;
  /** True if the call can wait for a later answer. Default: true unless it is nested. */
  readonly canWait?: boolean;
  readonly preview?: CallPreview;
}

/** A person's answer; `later` if the question was postponed or withdrawn. */
export type PersonAnswer = ApprovalAnswer | { readonly type: 'later' };

const denied: PersonAnswer = { type: 'deny', reason: 'denied by the user' };
const later: PersonAnswer = { type: 'later' };

/**
 * Asks at the terminal whether a call may run. Escape denies: only an explicit yes approves. A yes before everything was shown does
 * not count: the rest is shown, and the question is asked again.
 */
export async function askPerson(pending: PendingApproval, options: AskPersonOptions): Promise<PersonAnswer> {
  const { input, output, style, signal, onInterrupt, preview } = options;
  const question = { ...pending, ...preview };
  const show = (maxRows: number): boolean => {
    const { lines, isWhole } = describeQuestion(question, { style, maxRows, more: 'choose "Show all".' });
    output.write(`\n${lines.join('\n')}\n`);
    return isWhole;
  };
  let isShown = show(countRows(output));
  while (true) {
    let interrupted = false;
    const answer = await choose({
      message: 'Allow this call?',
      options: listChoices(pending, { isShown, ...options }),
      // Enter alone must not approve.
      initialValue: 'deny',
      input,
      output,
      signal,
      onInterrupt() {
        interrupted = true;
        onInterrupt();
      },
    });
    if (answer === undefined) return interrupted || signal.aborted ? later : denied;
    if (answer === 'deny') return denied;
    if (answer === 'later') return later;
    if (isShown) return answer === 'run' ? { type: 'approve', grant: true } : { type: 'approve' };
    isShown = show(Number.POSITIVE_INFINITY);
  }
}

/** True if an approval may also cover later calls of the tool. */
export function canBeGranted({ asks }: Pick<PendingApproval, 'asks'>): boolean {
  return asks.every(({ grantable }) => grantable !== false);
}

type Choice = 'once' | 'run' | 'deny' | 'all' | 'later';

function listChoices(
  pending: PendingApproval,
  {
    isShown,
    canWait = pending.parentId === undefined,
  }: Pick<AskPersonOptions, 'canWait'> & { readonly isShown: boolean },
): { readonly value: Choice; readonly label: string }[] {
  return [
    { value: 'once', label: 'Allow once' },
    ...(canBeGranted(pending)
      ? [{ value: 'run', label: `Allow ${toPrintable(pending.name)} for this run` } as const]
      : []),
    { value: 'deny', label: 'Deny' },
    ...(isShown ? [] : [{ value: 'all', label: 'Show all' } as const]),
    // The call around a nested one is running and cannot wait.
    ...(canWait
      ? [{ value: 'later', label: 'Decide later (suspends the run; answer with `holdfast approve`)' } as const]
      : []),
  ];
}

/** The rows of a question that fit on the screen with the choices. */
export function countRows({ rows }: OutputStream): number {
  return Math.max(12, (rows || 24) - 8);
}
