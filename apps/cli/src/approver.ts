import type { ApprovalAnswer, PendingApproval } from '@holdfast/core';
import { askPerson } from './ask-person.ts';
import { createColors } from './colors.ts';
import { describeTerminal, findQuestionStream, type Host, type TakenStreams } from './host.ts';
import type { RunView } from './run-view.ts';

export interface ApproverOptions {
  readonly host: Host;
  readonly view: RunView;
  readonly taken: TakenStreams;
  /** Called when a question is answered with Ctrl-C. */
  readonly onInterrupt: () => void;
}

/** How calls that need approval are answered in one run. */
export interface Approver {
  /** What `runAgent` takes: a function to ask, or the word that nobody can be asked. */
  readonly callOptions:
    | { readonly approve: (pending: PendingApproval) => ApprovalAnswer | Promise<ApprovalAnswer> }
    | { readonly unattended: true };
  /** Why nobody is asked; `undefined` when somebody is. */
  readonly absence: string | undefined;
  /** Takes back a question that is still open. */
  close(): void;
}

/** Asks the person at the terminal, where there is one and it is wanted; else denies everything. */
export function createApprover(attended: boolean, options: ApproverOptions): Approver {
  const { host, view, taken, onInterrupt } = options;
  const output = findQuestionStream(host, taken);
  if (!attended || output === undefined) {
    const absence = !attended
      ? '--unattended was given'
      : taken.stdin
        ? 'standard input carried the request'
        : 'there is no terminal to ask at';
    return { callOptions: { unattended: true }, absence, close: () => undefined };
  }
  const { color, columns } = describeTerminal(output, host.environment);
  const controller = new AbortController();
  const ask = (pending: PendingApproval): Promise<ApprovalAnswer> =>
    view.pauseFor(() =>
      askPerson(pending, {
        input: host.stdin,
        output,
        style: { colors: createColors(color), columns },
        signal: controller.signal,
        onInterrupt,
      }),
    );
  // One question at a time: two prompts would fight for the same keys.
  let last: Promise<unknown> = Promise.resolve();
  return {
    callOptions: {
      approve(pending) {
        const answer = last.then(() => ask(pending));
        // A question that failed has failed for whoever asked it; the next one may be put.
        last = Promise.allSettled([answer]);
        return answer;
      },
    },
    absence: undefined,
    close: () => controller.abort(),
  };
}
