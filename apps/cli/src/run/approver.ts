import { isHoldfastError, type PendingApproval } from '@holdfast/core';
import { type Approve, answerApproval, type HostAnswer } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import { type PreviewPlace, previewCall } from '../calls/preview.ts';
import type { ApprovalMode } from '../settings/choices.ts';
import { createColors } from '../terminal/colors.ts';
import {
  describeTerminal,
  findQuestionStream,
  type Host,
  type OutputStream,
  type TakenStreams,
} from '../terminal/host.ts';
import { askPerson, type PersonAnswer } from './ask-person.ts';
import type { View } from './view.ts';

export interface ApproverOptions {
  readonly host: Host;
  readonly view: Pick<View, 'show' | 'pauseFor'>;
  readonly taken: TakenStreams;
  /** The files that calls work on. */
  readonly files: PreviewPlace['filesystem'];
  /** The answer to a question if nobody can be asked. */
  readonly whenNobody: 'deny' | 'wait';
  /** Called when a question is answered with Ctrl-C. */
  readonly onInterrupt: () => void;
}

/** Answers calls that need approval during one run. */
export interface Approver {
  /** True if the run denies such calls. */
  readonly unattended: boolean;
  /** Why nobody is asked; `undefined` if a person can be asked, or nothing is asked. */
  readonly absence: string | undefined;
  /**
   * Asks the person about the calls of a suspended run, until one is postponed, and records the answers. Returns false without an
   * answer: the run stays suspended. `untilMs`: the deadline for answers.
   */
  ask(pending: readonly PendingApproval[], session: Session, untilMs: number | undefined): Promise<boolean>;
  /** The `approve` option of a run: questions of nested calls cannot wait, so they are asked at once. `undefined`: nobody can be asked. */
  readonly approve: Approve | undefined;
  /** Withdraws an open question and asks no more. */
  close(): void;
}

/** Asks at the terminal, if there is one and the mode allows it. */
export function createApprover(mode: ApprovalMode, options: ApproverOptions): Approver {
  const output = findQuestionStream(options.host, options.taken);
  if (mode === 'ask' && output !== undefined) return new TerminalApprover(output, options);
  const denies = mode === 'unattended' || (mode === 'ask' && options.whenNobody === 'deny');
  return {
    unattended: denies,
    absence: denies ? describeAbsence(mode, options.taken) : undefined,
    ask: async () => false,
    approve: undefined,
    close: () => undefined,
  };
}

function describeAbsence(mode: ApprovalMode, taken: TakenStreams): string {
  if (mode === 'unattended') return '--unattended is set';
  return taken.stdin ? 'standard input was used for the request' : 'no terminal';
}

// The longest time of a timer.
const maxTimerMs = 2 ** 31 - 1;

class TerminalApprover implements Approver {
  readonly unattended = false;
  readonly absence = undefined;
  readonly #output: OutputStream;
  readonly #options: ApproverOptions;
  readonly #closing = new AbortController();
  #putOff = false;

  constructor(output: OutputStream, options: ApproverOptions) {
    this.#output = output;
    this.#options = options;
  }

  async ask(
    pending: readonly PendingApproval[],
    session: Session,
    untilMs = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const granted = new Set<string>();
    let answered = false;
    for (const question of pending) {
      if (this.#putOff || this.#closing.signal.aborted) break;
      if (granted.has(question.toolDigest)) continue;
      const answer = await this.#put(question, Math.min(untilMs, question.expiresAtMs));
      if (answer.type !== 'later') {
        await this.#record(question, answer, session);
        if (answer.type === 'approve' && answer.grant === true) granted.add(question.toolDigest);
      } else if (this.#options.host.clock.now() < question.expiresAtMs) {
        this.#putOff = true;
        break;
      }
      // An expired question counts as answered.
      answered = true;
    }
    return answered;
  }

  // Other questions suspend the run first, so that they can be answered even if this process ends.
  readonly approve: Approve = async (question): Promise<HostAnswer> => {
    if (question.parentId === undefined || this.#closing.signal.aborted) return { type: 'later' };
    return this.#put(question, question.expiresAtMs);
  };

  close(): void {
    this.#closing.abort();
  }

  async #put(question: PendingApproval, untilMs: number): Promise<PersonAnswer> {
    const { host, view, files, onInterrupt } = this.#options;
    const preview = await previewCall(question, { filesystem: files, clock: host.clock });
    const { color, columns } = describeTerminal(this.#output, host.environment);
    const over = new AbortController();
    const leftMs = Math.min(Math.max(0, untilMs - host.clock.now()), maxTimerMs);
    const stopTimer = host.clock.after(leftMs, () => over.abort());
    try {
      return await view.pauseFor(() =>
        askPerson(question, {
          input: host.stdin,
          output: this.#output,
          style: { colors: createColors(color), columns },
          signal: AbortSignal.any([this.#closing.signal, over.signal]),
          onInterrupt,
          preview,
        }),
      );
    } finally {
      stopTimer();
    }
  }

  async #record(
    question: PendingApproval,
    answer: Exclude<PersonAnswer, { type: 'later' }>,
    session: Session,
  ): Promise<void> {
    const { host, view } = this.#options;
    try {
      await answerApproval(session, question, answer, { clock: host.clock });
      const { callId, run, turn, digest } = question;
      view.show({ type: 'approval-answer', callId, run, turn, digest, answer, by: 'person' });
    } catch (thrown) {
      // It expired just now: the call ends as expired.
      if (!isHoldfastError(thrown) || thrown.code !== 'approval.expired') throw thrown;
    }
  }
}
