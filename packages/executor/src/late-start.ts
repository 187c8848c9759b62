import { describeThrown, HoldfastError } from '@holdfast/core';
import type { CallResources } from './call-resources.ts';
import { toAbortReason } from './call-time.ts';
import { thrownCode } from './ending.ts';
import type { Trail } from './trail.ts';

/** The start of a call whose tool prepares: recorded once, when the tool says so, however many attempts there are. */
export class LateStart {
  readonly #trail: Trail;
  readonly #record: () => Promise<void> | undefined;
  #recorded: Promise<void> | undefined;

  /** @param record - writes the start record; resolves when that is as durable as the log promises. */
  constructor(trail: Trail, record: () => Promise<void> | undefined) {
    this.#trail = trail;
    this.#record = record;
    trail.preparing = true;
  }

  /** Rejects when the call has to stop, or cannot be recorded: then its tool must not begin. */
  async begin(resources: CallResources): Promise<void> {
    checkGoesOn(resources);
    this.#recorded ??= this.#start();
    let stopListening: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      stopListening = resources.onStop(() => resolve());
    });
    try {
      await Promise.race([this.#recorded, stopped]);
    } finally {
      stopListening();
    }
    checkGoesOn(resources);
    this.#trail.preparing = false;
  }

  async #start(): Promise<void> {
    let code = 'log.write_failed';
    try {
      const synced = this.#record();
      code = 'log.sync_failed';
      await synced;
    } catch (cause) {
      throw new HoldfastError(thrownCode(cause, code), describeThrown(cause), { cause });
    }
  }
}

/** @throws why the call has to stop. */
function checkGoesOn({ ended }: CallResources): void {
  if (ended !== undefined) throw toAbortReason(ended);
}
