import { createHash } from 'node:crypto';
import { isCancel, select } from '@clack/prompts';
import type { ApprovalAnswer, PendingApproval } from '@holdfast/core';
import type { LineStyle } from './call-line.ts';
import type { InputStream, OutputStream } from './host.ts';
import { fitColumns, splitColumns, toPrintable, toPrintableBlock, wrapColumns } from './terminal-text.ts';

export interface AskPersonOptions {
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly style: LineStyle;
  /** Takes the question back. */
  readonly signal: AbortSignal;
  /** Called when the answer is Ctrl-C. */
  readonly onInterrupt: () => void;
  /** Whether the call could wait for an answer that comes later. Default: unless it is nested. */
  readonly canWait?: boolean;
}

/** What a person answers; `later` when the question was put off or taken back. */
export type PersonAnswer = ApprovalAnswer | { readonly type: 'later' };

const denied: PersonAnswer = { type: 'deny', reason: 'the person who was asked said no' };
const later: PersonAnswer = { type: 'later' };

/** Asks at the terminal whether a call may run. Escape denies: whatever is no clear yes is no approval. */
export async function askPerson(
  pending: PendingApproval,
  { input, output, style, signal, onInterrupt, canWait = pending.parentId === undefined }: AskPersonOptions,
): Promise<PersonAnswer> {
  output.write(`\n${describePending(pending, style).join('\n')}\n`);
  let interrupted = false;
  const watch = (chunk: Buffer | string): void => {
    if (chunk.includes('\x03')) interrupted = true;
  };
  // The prompt reports Escape and Ctrl-C alike, and in raw mode no signal comes.
  input.on('data', watch);
  try {
    const answer = await select({
      message: 'May it run?',
      options: [
        { value: 'once', label: 'Allow once' },
        ...(canBeGranted(pending) ? [{ value: 'run', label: `Allow ${toPrintable(pending.name)} for this run` }] : []),
        { value: 'deny', label: 'Deny' },
        // The call around a nested one is under way.
        ...(canWait ? [{ value: 'later', label: 'Decide later: the run waits for `holdfast approve`' }] : []),
      ],
      // Enter alone must not approve.
      initialValue: 'deny',
      input,
      output,
      signal,
    });
    if (isCancel(answer)) {
      if (interrupted) onInterrupt();
      return interrupted || signal.aborted ? later : denied;
    }
    if (answer === 'once') return { type: 'approve' };
    if (answer === 'run') return { type: 'approve', grant: true };
    return answer === 'later' ? later : denied;
  } finally {
    input.off('data', watch);
  }
}

/** Whether a yes may also hold for later calls of the tool. */
export function canBeGranted({ asks }: Pick<PendingApproval, 'asks'>): boolean {
  return asks.every(({ grantable }) => grantable !== false);
}

const maxArgumentLines = 16;
const maxReasonLines = 6;

/** What a person has to know for the answer. Nothing that the model wrote can act on the terminal or pass for our own lines. */
export function describePending(
  pending: Pick<PendingApproval, 'name' | 'input' | 'dangerous' | 'asks'>,
  { colors, columns }: LineStyle,
): readonly string[] {
  const json = JSON.stringify(pending.input, undefined, 2) ?? 'null';
  const width = Math.max(10, Math.min(columns, 120) - 6);
  const lines = toPrintableBlock(json)
    .split('\n')
    .flatMap((line) => splitColumns(line, width, maxArgumentLines + 1));
  const reasons = pending.asks.map(({ policy, reason }) => toPrintable(`${reason ?? 'no reason given'} (${policy})`));
  return [
    `  ${colors.yellow('asking')}    ${colors.bold(fitColumns(toPrintable(pending.name), width - 18))}${pending.dangerous ? colors.red('  dangerous') : ''}`,
    ...lines.slice(0, maxArgumentLines).map((line) => `    ${colors.dim('|')} ${line}`),
    ...(lines.length > maxArgumentLines
      ? [colors.yellow(`    cut here: all of it is ${json.length} characters, sha256 ${digest(json)}`)]
      : []),
    ...reasons.flatMap((reason) => wrapColumns(reason, width, maxReasonLines).map((line) => `    ${line}`)),
  ];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
