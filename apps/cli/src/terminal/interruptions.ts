import { type ExitCode, interruptionCodes } from './failure.ts';
import type { Host, Interruption } from './host.ts';

/** What stops a command before its end, from here until it is disposed. */
export class Interruptions implements Disposable {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #cause: Interruption | undefined;

  constructor({ onInterrupt }: Pick<Host, 'onInterrupt'>) {
    this.#stopListening = onInterrupt((cause) => this.interrupt(cause));
  }

  /** Fires with the first one. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How the program ends when it was stopped. */
  get exitCode(): ExitCode | undefined {
    return this.#cause === undefined ? undefined : interruptionCodes[this.#cause];
  }

  interrupt(cause: Interruption): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }
}
