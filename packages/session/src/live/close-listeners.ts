import { describeThrown } from '@holdfast/core/internal';

/** What has to be told before a session closes. */
export class CloseListeners {
  readonly #listeners: (() => void | Promise<void>)[] = [];

  get size(): number {
    return this.#listeners.length;
  }

  add(listener: () => void | Promise<void>): void {
    this.#listeners.push(listener);
  }

  /**
   * Calls each once, the last first, also those that are added on the way. `note` gets what one throws; what `note` throws comes
   * out once all have been called.
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
