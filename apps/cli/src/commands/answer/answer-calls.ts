import { confirm } from '@clack/prompts';
import { type ApprovalAnswer, HoldfastError, type PendingApproval } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { formatCount } from '@holdfast/orchestrator/text';
import type { Session } from '@holdfast/session';
import type { Command } from 'commander';
import { findOpenCall } from '../../calls/find-open.ts';
import { describeStyle } from '../../calls/line.ts';
import { type CallPreview, openPreviews } from '../../calls/preview.ts';
import { describeQuestion } from '../../calls/question.ts';
import { requirePerson } from '../../guard/person.ts';
import { openSession } from '../../logs/open-session.ts';
import { canBeGranted, countRows } from '../../run/ask-person.ts';
import { createColors } from '../../terminal/colors.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import { describeTerminal, findQuestionStream, type Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { fitColumns, toPrintable } from '../../terminal/text.ts';
import { toCommand } from '../../terminal/words.ts';
import { guardFolder, resolveLinks } from '../../user/guard-folder.ts';
import { findSession } from '../../workspace/known.ts';

export interface AnswerCommandOptions {
  readonly id: string;
  /** Ids of calls, or prefixes of them. */
  readonly calls: readonly string[];
  readonly answer: ApprovalAnswer;
  /** The person who answers. */
  readonly by: string | undefined;
  /** A digest or prefix: only the question with this digest is answered. */
  readonly digest: string | undefined;
  readonly workspace: string;
  readonly json: boolean;
}

/**
 * Answers questions of a suspended session, after showing approved calls in full. Returns 1 if the person at the terminal then
 * declines, in which case nothing is answered. No call runs before `resume`.
 *
 * @throws HoldfastError `usage.*`, `approval.answered`, `approval.expired`, `approval.mismatch`, `log.*`, `replay.*`.
 */
export async function answerCalls(options: AnswerCommandOptions, host: Host): Promise<ExitCode> {
  const { answer, by, json } = options;
  const log = await findSession(options, host);
  const { workspace } = log;
  const isGuarded = workspace === resolveLinks(guardFolder(host));
  if (isGuarded) requirePerson('answer for a guarded agent', host);
  const listing = toCommand({ words: ['pending', log.id], workspace }, host);
  const asked = await openSession(log, workspace, host);
  const questions = await closing(asked, async () => findQuestions(options, asked, listing));
  const calls = await addPreviews(questions, openPreviews(workspace, host.clock));
  // The log is not locked while a person reads: the hooks of an agent wait for it.
  if (answer.type === 'approve' && !(await showBeforeApproval(calls, { json }, host))) {
    host.stderr.write('Not approved.\n');
    return 1;
  }
  const session = await openSession(log, workspace, host, { warns: false });
  return await closing(session, async (): Promise<ExitCode> => {
    const still = pendingApprovals(session);
    const isStill = ({ callId, digest }: PendingApproval): boolean =>
      still.some((question) => question.callId === callId && question.digest === digest);
    // One that was answered or has changed meanwhile comes first: it fails, and nothing is answered.
    for (const question of questions.toSorted((left, right) => Number(isStill(left)) - Number(isStill(right))))
      await answerApproval(session, question, answer, { clock: host.clock, ...(by === undefined ? {} : { by }) });
    const waiting = pendingApprovals(session).length;
    if (json) {
      const answered = calls.map((call) => ({
        callId: call.callId,
        run: call.run,
        turn: call.turn,
        name: call.name,
        input: call.input,
        changes: call.changes,
        changesUnknown: call.changesUnknown,
        digest: call.digest,
        answer: asRecorded(answer, call),
        by: by ?? 'person',
      }));
      printJson(host, { session: log.id, answered, waiting });
    } else {
      const resume = `To continue: ${toCommand({ words: ['resume', log.id], workspace }, host)}`;
      const next = isGuarded ? 'An approved call runs when the agent makes it again, within 10 minutes.' : resume;
      const { colors } = describeStyle(host);
      const more = waiting === 1 ? '1 more call is pending' : `${waiting} more calls are pending`;
      const left = waiting === 0 ? 'No other call is pending' : more;
      printLines(host, [...describeAnswers(questions, answer), colors.dim(`${left}. ${next}`)]);
    }
    return 0;
  });
}

async function closing<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await session.close();
  }
}

async function addPreviews(
  questions: readonly PendingApproval[],
  preview: ReturnType<typeof openPreviews>,
): Promise<readonly ShownCall[]> {
  const shown: ShownCall[] = [];
  for (const question of questions) shown.push({ ...question, ...(await preview(question)) });
  return shown;
}

/** Finds all of them before the first is answered, so that a typo answers nothing. */
function findQuestions(
  { id, calls, digest }: AnswerCommandOptions,
  session: Session,
  listing: string,
): readonly PendingApproval[] {
  const waiting = pendingApprovals(session);
  // Answering one of these fails with `approval.answered`.
  const answered = session
    .openWork()
    .calls.flatMap(({ approvals }) => approvals.slice(-1).map(({ pending }) => pending))
    .filter((question) => !waiting.includes(question));
  const found = calls.map((given) => {
    const search = { session: id, what: 'pending', listing, others: answered };
    return chooseQuestion(given, findOpenCall(given, waiting, search), { digest, listing });
  });
  return [...new Set(found)];
}

function chooseQuestion(
  given: string,
  matching: readonly PendingApproval[],
  { digest, listing }: { readonly digest: string | undefined; readonly listing: string },
): PendingApproval {
  const wanted = digest?.toLowerCase();
  const meant = wanted === undefined ? matching : matching.filter((question) => question.digest.startsWith(wanted));
  const [only] = meant;
  if (only === undefined) {
    throw new HoldfastError(
      'approval.mismatch',
      `The question of call \`${given}\` does not have the digest \`${digest}\`: review it again before you answer.`,
      { data: { hint: `\`${listing}\` shows it.` } },
    );
  }
  if (meant.length === 1) return only;
  const digests = meant.map((question) => `\`${question.digest.slice(0, 12)}\``).join(' or ');
  throw usageError(
    'call_ambiguous',
    `The call \`${given}\` is pending in ${formatCount(meant.length, 'turn')}: add \`--digest\` with ${digests}.`,
  );
}

/** An approval that cannot be granted holds for that call only. */
function asRecorded(answer: ApprovalAnswer, question: PendingApproval): ApprovalAnswer {
  return answer.type === 'approve' && !canBeGranted(question) ? { type: 'approve' } : answer;
}

function describeAnswers(questions: readonly PendingApproval[], answer: ApprovalAnswer): readonly string[] {
  const said = answer.type === 'approve' ? 'Approved' : 'Denied';
  return questions.map((question) => {
    const { callId, name } = question;
    const grants = answer.type === 'approve' && answer.grant === true;
    const granted = canBeGranted(question)
      ? '; once it has run, further calls of this tool need no approval'
      : '; this call only: it cannot be granted for the session';
    return `${said}: ${toPrintable(name)} (${fitColumns(toPrintable(callId), 64)})${grants ? granted : ''}`;
  });
}

/** Options of `approve` and `deny`. */
export interface AnswerFlags {
  readonly workspace: string;
  readonly json?: boolean;
  readonly by?: string;
  readonly digest?: string;
}

export function addAnswerOptions(command: Command): Command {
  return command
    .argument('<id>', 'session id')
    .argument('<call...>', 'call ids, or unique prefixes')
    .option('--by <who>', 'name to record in the log (default: person)')
    .option('--digest <hex>', 'answer only if the question still has this digest (a prefix is enough)')
    .option('--workspace <dir>', 'workspace of the session', '.')
    .option('--json', 'print JSON');
}

/** A call that is about to be approved. */
export type ShownCall = PendingApproval & CallPreview;

/**
 * Shows calls in full before they are approved. At a terminal, asks for confirmation if they do not fit on the screen, because the
 * command was typed before they could be read. Returns false if the person declines.
 *
 * With `json`, shows the calls only at a terminal: the printed JSON contains all of them.
 */
async function showBeforeApproval(
  calls: readonly ShownCall[],
  { json }: { readonly json: boolean },
  host: Host,
): Promise<boolean> {
  const terminal = findQuestionStream(host, { stdin: false, stdout: json });
  const output = terminal ?? (json ? undefined : host.stdout);
  if (output === undefined) return true;
  const { color, columns } = describeTerminal(output, host.environment);
  const style = { colors: createColors(color), columns };
  const describe = (call: ShownCall, maxRows: number) => describeQuestion(call, { style, maxRows, more: '' });
  const long = calls.filter((call) => !describe(call, countRows(output)).isWhole);
  const isAsked = terminal !== undefined && long.length > 0;
  if (json && !isAsked) return true;
  for (const call of calls) {
    output.write(`${describe(call, Number.POSITIVE_INFINITY).lines.join('\n')}\n`);
  }
  if (!isAsked) return true;
  const what = calls.length === 1 ? 'it' : `all ${formatCount(calls.length, 'call')}`;
  const answer = await confirm({
    message: `Approve ${what}, as shown above?`,
    initialValue: false,
    input: host.stdin,
    output: terminal,
  });
  return answer === true;
}
