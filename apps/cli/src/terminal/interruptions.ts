import { type ExitCode, interruptionCodes } from './failure.ts';
import type { Host, Interruption } from './host.ts';

/** Collects interruptions of a command until it is disposed. */
export class Interruptions implements Disposable {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #cause: Interruption | undefined;

  constructor({ onInterrupt }: Pick<Host, 'onInterrupt'>) {
    this.#stopListening = onInterrupt((cause) => this.interrupt(cause));
  }

  /** Aborted by the first interruption. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code after an interruption. */
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
