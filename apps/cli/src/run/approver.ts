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
  /** What becomes of a question for which nobody is there. */
  readonly whenNobody: 'deny' | 'wait';
  /** Called when a question is answered with Ctrl-C. */
  readonly onInterrupt: () => void;
}

/** How calls that need approval are answered in one run. */
export interface Approver {
  /** Whether the run shall end such calls as denied. */
  readonly unattended: boolean;
  /** Why nobody is asked; `undefined` when somebody is, or when nobody has to be. */
  readonly absence: string | undefined;
  /**
   * Puts the questions of a suspended run to the person, until one is put off, and records the answers. False when there is none,
   * so that the run has to stay suspended. `untilMs`: when the person's time is over.
   */
  ask(pending: readonly PendingApproval[], session: Session, untilMs: number | undefined): Promise<boolean>;
  /** What to give runs as `approve`: questions of nested calls cannot wait, and are put at once. `undefined`: nobody is there. */
  readonly approve: Approve | undefined;
  /** Takes back a question that is open, and asks no further one. */
  close(): void;
}

/** Asks the person at the terminal, where there is one and it is wanted. */
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
  if (mode === 'unattended') return '--unattended was given';
  return taken.stdin ? 'standard input carried the request' : 'there is no terminal to ask at';
}

// A longer time than a timer can run.
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
      // One that was not answered in its time is answered by that.
      answered = true;
    }
    return answered;
  }

  // Of the others the run is to wait first: whatever becomes of this process, they are there to be answered.
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
      // It came in the very moment in which its time was over: the call ends by that.
      if (!isHoldfastError(thrown) || thrown.code !== 'approval.expired') throw thrown;
    }
  }
}
