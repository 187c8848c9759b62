import type { Outcome } from '@holdfast/core';
import type { CallResources } from './call-resources.ts';
import type { CallScope, NestedCalls } from './call-scope.ts';
import { CallSequence } from './call-sequence.ts';
import { failure } from './ending.ts';
import { nestedResources } from './nested-resources.ts';
import { readOnlyFilesystem } from './policy-state.ts';

/** Calls within calls within calls: deeper is taken for a recursion that does not end. */
const maxDepth = 16;

/** Calls run one after another; those that only read run beside each other. */
export function nestCalls(parent: CallResources): NestedCalls {
  return new SequentialCalls(parent);
}

class SequentialCalls implements NestedCalls {
  readonly #sequence: CallSequence;
  readonly #parentId: string;
  readonly #tooDeep: boolean;
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parent: CallResources) {
    this.#sequence = new CallSequence(nestedScope(parent));
    this.#parentId = parent.call.id;
    this.#tooDeep = depthOf(parent) >= maxDepth;
  }

  call(name: string, input: unknown): Promise<Outcome> {
    this.#count += 1;
    const call = { id: `${this.#parentId}/${this.#count}`, name: String(name), arguments: input };
    const refusal = this.#tooDeep
      ? failure('invalid', { code: 'call.too_deep', message: `Calls are nested deeper than ${maxDepth} levels.` })
      : undefined;
    const index = this.#sequence.add(call, refusal);
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

function depthOf(parent: CallResources): number {
  let depth = 1;
  for (let around = parent.scope.parent; around !== undefined; around = around.scope.parent) depth += 1;
  return depth;
}

function nestedScope(parent: CallResources): CallScope {
  const { scope, transaction, lifetime } = parent;
  const resources = nestedResources(parent);
  const session = Object.freeze({ read: transaction.read.bind(transaction) });
  return {
    ...scope,
    parent,
    state: transaction,
    resources,
    surroundings: { session, filesystem: readOnlyFilesystem(resources), deadline: lifetime.deadline },
    lifetime,
  };
}
