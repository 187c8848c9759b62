import type { Budget, PendingApproval } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import type { PlanEvent, RunPlanOptions } from '@holdfast/orchestrator';
import type { Session } from '@holdfast/session';
import { formatUnfinished } from '../calls/feedback.ts';
import { describeStyle, type LineStyle } from '../calls/line.ts';
import type { ExitCode } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { Interruptions } from '../terminal/interruptions.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { createApprover } from './approver.ts';
import { describeNextSteps } from './next-steps.ts';
import type { CallSetup } from './setup.ts';
import type { RunTerms } from './terms.ts';
import { openView, type Telling } from './view.ts';

/** The parts of a running run or plan, and its output format. */
export interface Conduct<Setup extends CallSetup = CallSetup> {
  readonly setup: Setup;
  readonly terms: RunTerms;
  readonly session: Session;
  readonly json: boolean;
  /** Prints only the answer to stdout. Default false. */
  readonly quiet?: boolean;
  /** True if stdin held the request, so that answers cannot be read from it. */
  readonly stdinTaken: boolean;
}

/** The options that runs and plans share. */
export type WorkOptions = Pick<
  RunPlanOptions,
  | 'session'
  | 'resources'
  | 'facts'
  | 'grants'
  | 'unattended'
  | 'signal'
  | 'clock'
  | 'timeoutMs'
  | 'approvalTimeoutMs'
  | 'approve'
> & { readonly budget?: Budget; readonly onEvent: (event: PlanEvent) => void };

/** The part of the result that runs and plans share. */
interface WorkResult {
  readonly status: string;
  readonly pending: readonly PendingApproval[];
}

/** Describes the end of a run or plan. */
export interface WorkSummary<Result> {
  add(event: PlanEvent): void;
  /** `absence`: why nobody could be asked. */
  describe(result: Result, style: LineStyle, absence: string | undefined): readonly string[];
  /** The effects so far, after an error. */
  describeBroken(style: LineStyle): readonly string[];
}

export interface Work<Result extends WorkResult> {
  /** The word for it in messages. */
  readonly what: 'run' | 'plan';
  /** True if it was started before, so that its questions can wait for a later answer. */
  readonly isResumed: boolean;
  readonly telling: Telling;
  createSummary(budget: Budget | undefined): WorkSummary<Result>;
  begin(options: WorkOptions): Promise<Result>;
  /** Resumes after a suspension. */
  goOn(options: WorkOptions, suspended: Result): Promise<Result>;
  /** The only output on stdout with `--quiet`; `undefined`: it did not complete. */
  toAnswer(result: Result): Answer | undefined;
  /** Adds details about an error that ended it. */
  reportBroken?(thrown: unknown): void;
}

export interface Answer {
  readonly text: string;
  /** Missing parts, according to a completion checker. */
  readonly unfinished?: string | undefined;
}

/**
 * Runs or resumes a run or plan until it ends or a question stays unanswered, and shows it. Asks the user at each suspension and stops
 * on interruptions.
 */
export async function conductWork<Result extends WorkResult>(
  work: Work<Result>,
  { setup, terms, session, json, quiet = false, stdinTaken }: Conduct,
  host: Host,
): Promise<ExitCode> {
  const { workspace, files, tools, slices, resources, facts } = setup;
  const { clock } = host;
  const style = describeStyle(host);
  const print = (lines: readonly string[]): void => {
    if (!json && !quiet) for (const line of lines) host.stdout.write(`${line}\n`);
  };
  const answers = quiet ? openAnswers(host) : undefined;
  const budget = createWorkBudget(terms, host);
  const summary = work.createSummary(budget);
  using stop = new Interruptions(host);
  const view = await openView(work.telling, { json, quiet, many: work.what === 'plan' }, host);
  const approver = createApprover(terms.approval, {
    host,
    view,
    taken: { stdin: stdinTaken, stdout: json || quiet },
    files,
    whenNobody: work.isResumed ? 'wait' : 'deny',
    onInterrupt: () => stop.interrupt('ctrl-c'),
  });
  stop.signal.addEventListener('abort', () => approver.close());
  const resume = toCommand({ words: ['resume', session.id], workspace }, host);
  const guard = host.guardExit(
    `error: a tool ended this process during the ${work.what}; resume it with \`${resume}\` (tool.process.lost: exited)\n`,
  );
  const { timeoutMs, approvalTimeoutMs } = terms;
  const untilMs = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
  // Computed for each part: the time that is left.
  const toOptions = (): WorkOptions => ({
    session,
    resources,
    facts,
    // Granted by the host, not answered for a person: the log must tell them apart.
    grants: terms.approval === 'yes' ? tools.map(({ name }) => name) : terms.allow,
    unattended: approver.unattended,
    signal: stop.signal,
    clock,
    // Synchronous, so that everything before a question is printed above it.
    onEvent(event) {
      summary.add(event);
      view.show(event);
    },
    ...(untilMs === undefined ? {} : { timeoutMs: Math.max(1, untilMs - clock.now()) }),
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    ...(budget === undefined ? {} : { budget }),
    ...(approver.approve === undefined ? {} : { approve: approver.approve }),
  });
  try {
    for (const slice of slices) session.register(slice);
    let result = await work.begin(toOptions());
    while (result.status === 'suspended' && (await approver.ask(result.pending, session, untilMs)))
      result = await work.goOn(toOptions(), result);
    view.close();
    const describe = (lineStyle: LineStyle): readonly string[] => [
      ...summary.describe(result, lineStyle, approver.absence),
      ...describeNextSteps(result, { session: session.id, workspace }, { style: lineStyle, host }),
    ];
    const answer = work.toAnswer(result);
    if (answers === undefined) print(describe(style));
    else answers.end(answer, describe);
    if (answer !== undefined) return 0;
    return stop.exitCode ?? (result.status === 'suspended' ? 3 : 1);
  } catch (thrown) {
    // Recorded calls remain valid after an error.
    view.close();
    print(summary.describeBroken(style));
    work.reportBroken?.(thrown);
    throw thrown;
  } finally {
    guard();
    approver.close();
    view.close();
  }
}

/** The budget from the options, if any. */
function createWorkBudget(
  { maxCalls, maxTokens }: Pick<RunTerms, 'maxCalls' | 'maxTokens'>,
  { clock }: Pick<Host, 'clock'>,
): Budget | undefined {
  if (maxCalls === undefined && maxTokens === undefined) return undefined;
  const limits = {
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  return createBudget(limits, { clock });
}

/** Reserves stdout for the answer; without one, the reason goes to stderr. */
function openAnswers(host: Host): {
  end(answer: Answer | undefined, describe: (style: LineStyle) => readonly string[]): void;
} {
  const write = host.reserveStdout();
  const { stderr, environment } = host;
  const style = describeStyle({ stdout: stderr, environment });
  return {
    end(answer, describe) {
      const text = toPrintableBlock(answer?.text.trim() ?? '');
      if (text !== '') write(`${text}\n`);
      const lines = answer === undefined ? describe(style) : formatUnfinished(answer.unfinished, style);
      for (const line of lines) stderr.write(`${line}\n`);
    },
  };
}
