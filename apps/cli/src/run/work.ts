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

/** What a run or a plan goes on with, and how it is shown. */
export interface Conduct<Setup extends CallSetup = CallSetup> {
  readonly setup: Setup;
  readonly terms: RunTerms;
  readonly session: Session;
  readonly json: boolean;
  /** Only the answer goes to stdout. Default false. */
  readonly quiet?: boolean;
  /** Whether the request came from there, so that no answer can. */
  readonly stdinTaken: boolean;
}

/** What runs and plans are given alike. */
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

/** How it ended, as far as runs and plans do alike. */
interface WorkResult {
  readonly status: string;
  readonly pending: readonly PendingApproval[];
}

/** What is said at the end of it. */
export interface WorkSummary<Result> {
  add(event: PlanEvent): void;
  /** `absence`: why nobody could be asked. */
  describe(result: Result, style: LineStyle, absence: string | undefined): readonly string[];
  /** What stands when an error has ended it before its end. */
  describeBroken(style: LineStyle): readonly string[];
}

export interface Work<Result extends WorkResult> {
  /** What it is called in messages. */
  readonly what: 'run' | 'plan';
  /** Whether it was begun before: then somebody may come back to its questions. */
  readonly isResumed: boolean;
  readonly telling: Telling;
  createSummary(budget: Budget | undefined): WorkSummary<Result>;
  begin(options: WorkOptions): Promise<Result>;
  /** Goes on with what was suspended. */
  goOn(options: WorkOptions, suspended: Result): Promise<Result>;
  /** What goes to stdout alone with `--quiet`; `undefined`: it did not come to its end. */
  toAnswer(result: Result): Answer | undefined;
  /** What else is said of an error that has ended it. */
  reportBroken?(thrown: unknown): void;
}

export interface Answer {
  readonly text: string;
  /** What is missing in it. */
  readonly unfinished?: string | undefined;
}

/**
 * Lets a run or plan go on until it has ended or nobody answers a question of it, and shows it. It asks whenever it is suspended, and
 * stops when the program has to stop.
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
  const view = openView(work.telling, { json, quiet, many: work.what === 'plan' }, host);
  const budget = createWorkBudget(terms, host);
  const summary = work.createSummary(budget);
  using stop = new Interruptions(host);
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
    `error: a tool ended this process in the middle of the ${work.what}; \`${resume}\` goes on with it (tool.process.exited)\n`,
  );
  const { timeoutMs, approvalTimeoutMs } = terms;
  const untilMs = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
  // Anew for every part, whose time is what is left.
  const toOptions = (): WorkOptions => ({
    session,
    resources,
    facts,
    // Granted by the host, and not answered for a person: the log has to tell the two apart.
    grants: terms.approval === 'yes' ? tools.map(({ name }) => name) : terms.allow,
    unattended: approver.unattended,
    signal: stop.signal,
    clock,
    // Called at once, so that everything that came before a question stands above it.
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
    // The calls that were recorded stand, whatever came after them.
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

/** What may be spent, as far as anything was said. */
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

/** Keeps stdout for the answer of a run or a plan; why there is none goes to stderr. */
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
