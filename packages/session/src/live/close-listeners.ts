import { describeThrown } from '@holdfast/core/internal';

/** Listeners called before a session closes. */
export class CloseListeners {
  readonly #listeners: (() => void | Promise<void>)[] = [];

  get size(): number {
    return this.#listeners.length;
  }

  add(listener: () => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /**
   * Calls each listener once, the last first, including those added meanwhile. `note` receives what a listener throws; an error of
   * `note` is thrown after all were called.
   */
  async run(note: (message: string) => void): Promise<void> {
    const failures: unknown[] = [];
    for (let listener = this.#listeners.pop(); listener !== undefined; listener = this.#listeners.pop()) {
      try {
        await listener();
      } catch (thrown) {
        try {
          note(describeThrown(thrown));
        } catch (failure) {
          failures.push(failure);
        }
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
