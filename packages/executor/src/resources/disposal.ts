import { type ResourceNode, type ResourcePlace, release } from './node.ts';

/** A resource that could not be disposed of. */
export interface ResourceFailure {
  /** Of the resource. */
  readonly name: string;
  readonly thrown: unknown;
}

export interface DisposalOptions {
  /**
   * Told of what could not be disposed of after `dispose` had answered: instances that were made too late, and what those were built
   * from. Must not throw.
   */
  readonly onLateFailure: (failure: ResourceFailure) => void;
  /** Puts an end to one disposal: what it rejects with is the failure of that resource. Default: waits as long as it takes. */
  readonly limit?: ((disposal: Promise<void>) => Promise<void>) | undefined;
}

/**
 * The instances of one place, and their end: the last made goes first, one after the other. One that something still being made
 * was built from waits for that.
 */
export class Disposals implements ResourcePlace {
  readonly options: DisposalOptions;
  /** In order of making. */
  readonly #made: ResourceNode[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #begun = false;

  constructor(options: DisposalOptions) {
    this.options = options;
  }

  add(node: ResourceNode): void {
    this.#made.push(node);
    this.released();
  }

  released(): void {
    if (!this.#begun || this.#made.length === 0) return;
    void this.#disposeMade().then((failures) => {
      for (const failure of failures) this.options.onLateFailure(failure);
    });
  }

  /** Disposes of what can be now; whatever comes later is disposed of when it comes. */
  begin(): Promise<readonly ResourceFailure[]> {
    this.#begun = true;
    return this.#disposeMade();
  }

  #disposeMade(): Promise<readonly ResourceFailure[]> {
    const disposed = this.#last.then(async () => {
      const failures: ResourceFailure[] = [];
      for (let node = this.#takeLast(); node !== undefined; node = this.#takeLast()) {
        try {
          const disposal = dispose(node);
          await (this.options.limit?.(disposal) ?? disposal);
        } catch (thrown) {
          failures.push({ name: node.definition.name, thrown });
        }
        release(node);
      }
      return failures;
    });
    this.#last = disposed;
    return disposed;
  }

  #takeLast(): ResourceNode | undefined {
    const index = this.#made.findLastIndex(({ users }) => users.size === 0);
    return index < 0 ? undefined : this.#made.splice(index, 1)[0];
  }
}

async function dispose({ definition, instance }: ResourceNode): Promise<void> {
  await definition.dispose?.(instance);
}
