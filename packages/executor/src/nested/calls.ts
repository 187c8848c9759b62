import type { Json, Outcome, ResourceTransaction, StagedResource, Tool } from '@holdfast/core';
import { describeThrown, isStagedResource, toProblem } from '@holdfast/core/internal';
import type { ChildSession, Touched } from '@holdfast/core/types';
import { failure } from '../call/ending.ts';
import { type Lifetime, toDeadline } from '../call/execute.ts';
import { identifyCall } from '../call/prepare.ts';
import type { RunningCall } from '../call/running-call.ts';
import { type CallScope, readOnlyFilesystem, watchedReader } from '../call/scope.ts';
import type { Ended, Ending, EndOfLife, NestedDecision, NestedWork } from '../call/types.ts';
import { CallSequence } from '../turn/call-sequence.ts';
import { statefulFor } from '../turn/decide-again.ts';
import { createChildSession } from './child-session.ts';
import { freezeTouched, NestedTouched } from './touched.ts';

/** The nested calls of one call. */
export class Nested implements NestedWork {
  readonly #call: RunningCall;
  #sequence: SequentialCalls | undefined;
  #decisions: NestedDecision[] = [];
  #touched: NestedTouched | undefined;
  #calls = 0;
  #children = 0;

  constructor(call: RunningCall) {
    this.#call = call;
  }

  get any(): boolean {
    return this.#calls > 0 || this.#children > 0;
  }

  get decisions(): readonly NestedDecision[] {
    return this.#decisions;
  }

  async call(name: string, input: unknown): Promise<Outcome> {
    this.#sequence ??= new SequentialCalls(this.#call);
    this.#calls += 1;
    return await this.#sequence.call(`${this.#call.call.id}/${this.#calls}`, name, input);
  }

  openChild(): ChildSession {
    this.#children += 1;
    return createChildSession(this.#call, this.#children);
  }

  note(nested: RunningCall, changes: readonly Json[], touched: ReadonlyMap<string, Touched>): void {
    if (touched.size > 0) {
      this.#touched ??= new NestedTouched();
      this.#touched.add(touched);
    }
    // It counts with the outer call, and may have to be decided again then.
    const { call, scope, approved, nestedWork } = nested;
    const inner = nestedWork?.decisions ?? [];
    if (inner.length > 0 || statefulFor(call, scope).length > 0)
      this.#decisions.push({ call, scope, approved, nested: inner, changes });
  }

  own(touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched> {
    return this.#touched === undefined ? touched : this.#touched.without(touched);
  }

  again(call: RunningCall): Nested {
    const next = new Nested(call);
    next.#calls = this.#calls;
    next.#children = this.#children;
    return next;
  }
}

/** The tool's own reads and writes, for policies. */
export function ownTouched(
  { nestedWork }: RunningCall,
  touched: ReadonlyMap<string, Touched>,
): ReadonlyMap<string, Touched> {
  return freezeTouched(nestedWork === undefined ? touched : nestedWork.own(touched));
}

/** Runs calls one after another; read-only calls run in parallel. */
class SequentialCalls {
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

/** Ends when the outer call is stopped or has ended. */
export class NestedLifetime implements Lifetime {
  readonly endless = false;
  readonly deadline: Lifetime['deadline'];
  readonly #around: RunningCall;

  constructor(around: RunningCall) {
    this.#around = around;
    const { clock, lifetime } = around.scope;
    const atMs = Math.min(lifetime.deadline.atMs, around.time?.endsAtMs ?? Number.POSITIVE_INFINITY);
    this.deadline = toDeadline(atMs, clock);
  }

  get ended(): EndOfLife | undefined {
    // A tool that blocks the thread also keeps the outer call's timer from firing.
    return this.#around.ended ?? (this.deadline.remainingMs() === 0 ? 'deadline' : undefined);
  }

  // A field, because callers destructure it.
  readonly onEnd = (listener: (end: EndOfLife) => void): (() => void) => {
    const { ended } = this;
    if (ended === undefined) return this.#around.onStop(listener);
    listener(ended);
    return () => undefined;
  };

  dispose(): void {
    // Has no timer of its own; listeners are released with the outer call.
  }
}
