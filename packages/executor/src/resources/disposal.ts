import { type ResourceNode, type ResourcePlace, release } from './node.ts';

/** A failed disposal. */
export interface ResourceFailure {
  /** The resource's name. */
  readonly name: string;
  readonly thrown: unknown;
}

export interface DisposalOptions {
  /** Receives disposal failures after `dispose` has returned, from instances created too late and their dependencies. Must not throw. */
  readonly onLateFailure: (failure: ResourceFailure) => void;
  /** Limits one disposal: its rejection is the resource's failure. Default: no limit. */
  readonly limit?: ((disposal: Promise<void>) => Promise<void>) | undefined;
}

/** Disposes the instances of one place, last created first, one at a time. Waits for dependents that are still being created. */
export class Disposals implements ResourcePlace {
  readonly options: DisposalOptions;
  /** In order of creation. */
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

  /** Disposes everything possible now; later instances are disposed when they arrive. */
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
