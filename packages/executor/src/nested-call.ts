import { describeThrown, type Outcome } from '@holdfast/core';
import type { CallResources } from './call-resources.ts';
import type { CallScope, NestedCalls } from './call-scope.ts';
import { CallSequence } from './call-sequence.ts';
import { type Ending, failure, thrownCode } from './ending.ts';
import { identifyCall } from './identified-call.ts';
import { nestedResources } from './nested-resources.ts';
import { watchedReader } from './policy-moves.ts';
import { readOnlyFilesystem } from './policy-state.ts';

/** Calls run one after another; those that only read run beside each other. */
export function nestCalls(parent: CallResources): NestedCalls {
  return new SequentialCalls(parent);
}

class SequentialCalls implements NestedCalls {
  readonly #sequence: CallSequence;
  readonly #parent: CallResources;
  readonly #refusal: Ending | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parent: CallResources) {
    const opened = openResources(parent);
    this.#parent = parent;
    this.#refusal = opened.refusal;
    this.#sequence = new CallSequence(nestedScope(parent, opened.resources));
  }

  call(name: string, input: unknown): Promise<Outcome> {
    const number = this.#parent.nextCallNumber();
    const call = identifyCall({ name, arguments: input }, () => `${this.#parent.call.id}/${number}`);
    const index = this.#sequence.add(call, this.#refusal);
    const outcome = this.#last.then(async () => {
      const result = await this.#sequence.conduct(index);
      // Unreachable by the rule that a nested call asks nobody to wait: see `permit`.
      if (result.kind === 'suspended') throw new Error('A nested call was suspended.');
      return result;
    });
    this.#last = outcome.then(
      () => undefined,
      () => undefined,
    );
    return outcome;
  }
}

interface Opened {
  readonly resources: ReadonlyMap<string, unknown>;
  /** Why no call can be nested: a resource of the host cannot be opened. */
  readonly refusal: Ending | undefined;
}

function openResources(parent: CallResources): Opened {
  try {
    return { resources: nestedResources(parent), refusal: undefined };
  } catch (thrown) {
    const message = `A resource could not be opened: ${describeThrown(thrown)}`;
    const refusal = failure('failed', { code: thrownCode(thrown, 'resource.begin_failed'), message }, { thrown });
    return { resources: new Map(), refusal };
  }
}

function nestedScope(parent: CallResources, resources: Opened['resources']): CallScope {
  const { scope, transaction, lifetime } = parent;
  const session = watchedReader(transaction, scope.moves);
  return {
    ...scope,
    parent,
    manner: undefined,
    state: transaction,
    resources,
    surroundings: { session, filesystem: readOnlyFilesystem(resources), deadline: lifetime.deadline },
    lifetime,
  };
}
