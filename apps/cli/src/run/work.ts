import type { Budget } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import { formatUnfinished } from '../calls/feedback.ts';
import type { LineStyle } from '../calls/line.ts';
import { describeStyle } from '../calls/line.ts';
import { type ExitCode, interruptionCodes } from '../terminal/failure.ts';
import type { Host, Interruption } from '../terminal/host.ts';
import { toPrintableBlock } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';
import { type Approver, createApprover } from './approver.ts';
import type { CallSetup } from './setup.ts';
import type { RunTerms } from './terms.ts';
import type { RunView } from './view.ts';

/** Work that may ask, and may be told to stop: a run, or a plan. */
export interface WorkConduct {
  readonly setup: Pick<CallSetup, 'workspace' | 'files'>;
  readonly terms: RunTerms;
  readonly session: Session;
  /** Where nobody is there, a question of new work is denied, and that of resumed work waits. */
  readonly work: { readonly type: 'start' | 'resume' };
  readonly json: boolean;
  /** Only the answer or the result goes to stdout. Default false. */
  readonly quiet?: boolean;
  /** Whether the request, or the plan, came from there, so that no answer can. */
  readonly stdinTaken: boolean;
}

export interface WorkView {
  readonly view: Pick<RunView, 'show' | 'pauseFor' | 'close'>;
  /** What the work is called in messages. */
  readonly what: 'run' | 'plan';
}

/** What work needs that may ask, and may be told to stop. */
export interface WorkTools {
  readonly approver: Approver;
  /** Fires when it has to stop. */
  readonly signal: AbortSignal;
  /** How the program ends after it. */
  toExitCode(end: 'done' | 'suspended' | 'other'): ExitCode;
}

/** Lets work go on with somebody to ask, and stops it when the program has to stop. */
export async function conductWork(
  { setup: { workspace, files }, terms, session, work, json, quiet = false, stdinTaken }: WorkConduct,
  { view, what, host }: WorkView & { readonly host: Host },
  goOn: (tools: WorkTools) => Promise<ExitCode>,
): Promise<ExitCode> {
  const controller = new AbortController();
  let interruption: Interruption | undefined;
  const interrupt = (cause: Interruption): void => {
    interruption ??= cause;
    controller.abort();
  };
  const stopListening = host.onInterrupt(interrupt);
  const approver = createApprover(terms.approval, {
    host,
    view,
    taken: { stdin: stdinTaken, stdout: json || quiet },
    files,
    whenNobody: work.type === 'start' ? 'deny' : 'wait',
    onInterrupt: () => interrupt('ctrl-c'),
  });
  controller.signal.addEventListener('abort', () => approver.close());
  const resume = toCommand({ words: ['resume', session.id], workspace }, host);
  const guard = host.guardExit(
    `error: a tool ended this process in the middle of the ${what}; \`${resume}\` goes on with it (tool.process.exited)\n`,
  );
  try {
    return await goOn({
      approver,
      signal: controller.signal,
      toExitCode(end) {
        if (end === 'done') return 0;
        if (interruption !== undefined) return interruptionCodes[interruption];
        return end === 'suspended' ? 3 : 1;
      },
    });
  } finally {
    guard();
    approver.close();
    view.close();
    stopListening();
  }
}

/** What may be spent, as far as anything was said. */
export function createWorkBudget(
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

export interface AnswerEnd {
  /** Absent when there is none. */
  readonly answer: string | undefined;
  /** What is missing in it. */
  readonly unfinished?: string | undefined;
  /** Why there is none, and what to do. */
  describe(style: LineStyle): readonly string[];
}

/** Keeps stdout for the answer of a run or a plan; why there is none goes to stderr. */
export function openAnswers(host: Host): { end(end: AnswerEnd): void } {
  const write = host.reserveStdout();
  const { stderr, environment } = host;
  const style = describeStyle({ stdout: stderr, environment });
  const tell = (lines: readonly string[]): void => {
    for (const line of lines) stderr.write(`${line}\n`);
  };
  return {
    end({ answer, unfinished, describe }) {
      if (answer !== undefined) {
        const text = toPrintableBlock(answer.trim());
        if (text !== '') write(`${text}\n`);
        tell(formatUnfinished(unfinished, style));
      } else {
        tell(describe(style));
      }
    },
  };
}
