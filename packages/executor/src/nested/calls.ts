import type { Outcome, ResourceTransaction, StagedResource, Tool } from '@holdfast/core';
import { describeThrown, freezeOpen, isStagedResource, ReadOnlyMap, toProblem } from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';
import { failure } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import type { RunningCall } from '../call/running-call.ts';
import { type CallScope, readOnlyFilesystem, watchedReader } from '../call/scope.ts';
import type { Ended, Ending, NestedCalls } from '../call/types.ts';
import { CallSequence } from '../turn/call-sequence.ts';
import type { TouchedByResource } from './touched.ts';

/** Runs calls one after another; read-only calls run in parallel. */
export class SequentialCalls implements NestedCalls {
  readonly #sequence: CallSequence;
  readonly #refusal: Ending | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parent: RunningCall) {
    const { resources, refusal } = openResources(parent);
    this.#refusal = refusal;
    this.#sequence = new CallSequence(nestedScope(parent, resources));
  }

  call(id: string, name: string, input: unknown): Promise<Outcome> {
    const call = identifyCall({ name, arguments: input }, () => id);
    const index = this.#sequence.add(call, this.#refusal);
    const outcome = this.#last.then(async () => {
      const result = await this.#sequence.conduct(index);
      // Unreachable: a nested call cannot be suspended, see `permit`.
      if (result.kind === 'suspended') throw new Error('A nested call was suspended.');
      return result;
    });
    this.#last = Promise.allSettled([outcome]);
    return outcome;
  }
}

interface Opened {
  readonly resources: ReadonlyMap<string, unknown>;
  /** Why no call can be nested: a resource of the host cannot be opened. */
  readonly refusal: Ending | undefined;
}

function openResources(parent: RunningCall): Opened {
  try {
    return { resources: nestedResources(parent), refusal: undefined };
  } catch (thrown) {
    const message = `A resource could not be opened: ${describeThrown(thrown)}`;
    const problem = toProblem(thrown, { code: 'resource.failed', reason: 'begin' }, message);
    return { resources: new Map(), refusal: failure('failed', problem, { thrown }) };
  }
}

/** The resources of calls nested in `parent`: staged ones commit into the parent's part of the transaction. */
export function nestedResources(parent: RunningCall): ReadonlyMap<string, unknown> {
  if (parent.scope.resources.size === 0) return parent.scope.resources;
  // Opens every staged resource of the parent, so that nested calls can commit into it.
  void parent.views;
  return new Map(
    [...parent.scope.resources].map(([name, resource]) => {
      const staged = isStagedResource(resource) ? parent.staged.get(name) : undefined;
      return [name, staged === undefined ? resource : toNested(staged)];
    }),
  );
}

function toNested(around: ResourceTransaction): StagedResource {
  return {
    type: 'staged-resource',
    readOnly: around.readOnly,
    begin: (callId) => around.begin(callId),
  };
}

function nestedScope(parent: RunningCall, resources: Opened['resources']): CallScope {
  const { scope, transaction, lifetime } = parent;
  const session = watchedReader(transaction, scope.moves);
  return {
    ...scope,
    parent,
    nested: true,
    manner: undefined,
    state: transaction,
    resources,
    surroundings: {
      ...scope.surroundings,
      session,
      filesystem: readOnlyFilesystem(resources),
      deadline: lifetime.deadline,
    },
    lifetime,
  };
}

const reach = { none: 0, state: 1, external: 2 };
/** Deeper nesting is treated as infinite recursion. */
const maxDepth = 16;

/** Why `parent` must not call the tool. */
export function refuseNested({ name, effects }: Tool, parent: RunningCall): Ended | undefined {
  const around = parent.call.tool;
  // The declared effects of a tool cover the tools that it calls.
  if (reach[effects] > reach[around.effects]) {
    const message = `\`${around.name}\` declares effects \`${around.effects}\`, so it cannot call \`${name}\`, which declares \`${effects}\`.`;
    return { type: 'ended', ending: failure('denied', { code: 'tool.effects.exceeded', message }) };
  }
  let depth = 1;
  for (let outer = parent.scope.parent; outer !== undefined; outer = outer.scope.parent) depth += 1;
  if (depth < maxDepth) return undefined;
  const message = `\`${name}\` was not run: calls are nested ${maxDepth} levels deep.`;
  return { type: 'ended', ending: failure('invalid', { code: 'call.invalid', reason: 'too_deep', message }) };
}

/** The tool's own reads and writes, for policies. */
export function ownTouched(
  { nestedWork }: RunningCall,
  touched: ReadonlyMap<string, Touched>,
): ReadonlyMap<string, Touched> {
  return freezeTouched(nestedWork === undefined ? touched : nestedWork.own(touched));
}

/** A frozen copy. */
function freezeTouched(touched: TouchedByResource): TouchedByResource {
  if (touched instanceof ReadOnlyMap) return touched;
  return new ReadOnlyMap(
    [...touched].map(([name, { reads, writes }]) => [
      name,
      freezeOpen({ reads: reads.map((read) => ({ ...read })), writes: writes.map((write) => ({ ...write })) }),
    ]),
  );
}
