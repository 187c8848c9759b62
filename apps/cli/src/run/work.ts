import type { Budget } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
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

export interface WorkPlace {
  readonly sessionId: string;
  readonly workspace: string;
  readonly files: CallSetup['files'];
  readonly terms: Pick<RunTerms, 'approval'>;
  readonly view: Pick<RunView, 'show' | 'pauseFor' | 'close'>;
  /** What the work is called in messages. */
  readonly what: 'run' | 'plan';
  /** Whether stdout carries something else than lines for a person. */
  readonly stdoutTaken: boolean;
  /** Whether the request came from there, so that no answer can. */
  readonly stdinTaken: boolean;
  /** What becomes of a question for which nobody is there. */
  readonly whenNobody: 'deny' | 'wait';
}

/** What work needs that may ask, and may be told to stop. */
export interface WorkTools {
  readonly approver: Approver;
  /** Fires when it has to stop. */
  readonly signal: AbortSignal;
  /** How the program ends after it. */
  toExitCode(end: 'done' | 'suspended' | 'other'): ExitCode;
}

/** Lets `work` go on with somebody to ask, and stops it when the program has to stop. */
export async function conductWork(
  place: WorkPlace,
  host: Host,
  work: (tools: WorkTools) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { sessionId, workspace, files, terms, view, what, stdoutTaken, stdinTaken, whenNobody } = place;
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
    taken: { stdin: stdinTaken, stdout: stdoutTaken },
    files,
    whenNobody,
    onInterrupt: () => interrupt('ctrl-c'),
  });
  controller.signal.addEventListener('abort', () => approver.close());
  const resume = toCommand({ words: ['resume', sessionId], workspace }, host);
  const guard = host.guardExit(
    `error: a tool ended this process in the middle of the ${what}; \`${resume}\` goes on with it (tool.process.exited)\n`,
  );
  try {
    return await work({
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
