import { HoldfastError } from '@holdfast/core';
import { toProblem, toReason, within } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import { toAbortReason } from '../call/execute.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { LateStart } from '../call/types.ts';

/** The start of a call whose tool prepares: recorded once, when the tool begins, however many attempts there are. */
export class PreparedStart implements LateStart {
  readonly #call: RunningCall;
  readonly #record: () => Promise<void> | undefined;
  #recorded: Promise<void> | undefined;

  /** @param record - writes the start record and resolves once it is durable. */
  constructor(call: RunningCall, record: () => Promise<void> | undefined) {
    this.#call = call;
    this.#record = record;
    call.preparing = true;
  }

  /** Rejects if the call must stop or cannot be recorded: then its tool must not begin. */
  async begin(call: RunningCall): Promise<void> {
    checkGoesOn(call);
    this.#recorded ??= this.#start();
    await within(this.#recorded, { until: { onEnd: (stop) => call.onStop(stop) }, over: () => undefined });
    checkGoesOn(call);
    this.#call.preparing = false;
    call.preparing = false;
  }

  async #start(): Promise<void> {
    let kind: Omit<Problem, 'message'> = { code: 'log.write_failed' };
    try {
      const synced = this.#record();
      kind = { code: 'log.broken', reason: 'sync' };
      await synced;
    } catch (cause) {
      const problem = toProblem(cause, kind);
      throw new HoldfastError(problem.code, problem.message, { data: toReason(problem), cause });
    }
  }
}

/** @throws the reason why the call must stop. */
function checkGoesOn({ ended }: RunningCall): void {
  if (ended !== undefined) throw toAbortReason(ended);
}
