import {
  type Clock,
  HoldfastError,
  type ResourceDefinition,
  type ResourceTransaction,
  type StagedResource,
} from '@holdfast/core';
import { describeThrown, isStagedResource } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import type { RunningCall } from '../call/running-call.ts';
import { type Kept, keptBeside } from '../call/scope.ts';
import type { ResourceFailure } from './disposal.ts';
import { recoverResource } from './recover.ts';
import { type CallResourceScope, createSessionResources, type SessionResources } from './scope.ts';

/** Time limit for one disposal at the end of a call or session. */
const disposalLimitMs = 5_000;

/** The outer call's declared resources, and how a part joins the call's transaction. */
interface DeclaredParts {
  readonly around: DeclaredResources | undefined;
  readonly stage: (name: string, resource: StagedResource, part: ResourceTransaction) => void;
}

/** The declared resources of one call, and their parts in its transaction. */
export class DeclaredResources {
  readonly #call: RunningCall;
  readonly #parts: DeclaredParts;
  readonly #scope: CallResourceScope;
  readonly #begun = new Map<StagedResource, ResourceTransaction>();

  constructor(call: RunningCall, parts: DeclaredParts) {
    this.#call = call;
    this.#parts = parts;
    const { rootSession, resources, clock } = call.scope;
    const around = parts.around === undefined ? keptBeside(rootSession, sessionResources)(clock) : parts.around.#scope;
    this.#scope = around.open({
      bound: resources,
      view: (instance, name) => this.#viewOf(instance, name),
      onLateFailure: (failure) => this.#record(failure),
    });
  }

  use<Value>(resource: ResourceDefinition<Value>): Promise<Value> {
    return this.#scope.use(resource);
  }

  /** Disposes the call's resources; a resource with a part in an outer transaction lives as long as that call. */
  async dispose(): Promise<void> {
    if (this.#call.scope.parent !== undefined && this.#begun.size > 0) return;
    for (const failure of await this.#scope.dispose()) this.#record(failure);
  }

  #viewOf(instance: unknown, name: string): unknown {
    if (!isStagedResource(instance)) return instance;
    const bound = this.#call.scope.resources.get(name) === instance;
    if (bound) return this.#call.views.get(name);
    const recovering = recoverResource(this.#call.scope.rootSession, name, instance);
    return recovering === undefined ? this.#partOf(instance, name).view : this.#partAfter(recovering, instance, name);
  }

  async #partAfter(recovering: Promise<unknown>, instance: StagedResource, name: string): Promise<unknown> {
    await recovering;
    this.#call.checkOpen();
    return this.#partOf(instance, name).view;
  }

  /** Adds a part; outer calls that have not used the instance get parts too, because this one commits into theirs. */
  #partOf(instance: StagedResource, name: string): ResourceTransaction {
    let part = this.#begun.get(instance);
    if (part === undefined) {
      const around = this.#parts.around === undefined ? instance : this.#parts.around.#partOf(instance, name);
      part = around.begin(this.#call.call.id);
      this.#begun.set(instance, part);
      this.#parts.stage(name, instance, part);
    }
    return part;
  }

  #record({ name, thrown }: ResourceFailure): void {
    const { scope, call } = this.#call;
    noteFailure(scope.session, { callId: call.id, resource: name, message: describeThrown(thrown) });
  }
}

/** Resources with the lifetime of a session, disposed when it is closed. */
const sessionResources: Kept<(clock: Clock) => SessionResources> = {
  make(session) {
    let resources: SessionResources | undefined;
    return (clock) => {
      resources ??= openSessionResources(session, clock);
      return resources;
    };
  },
};

function openSessionResources(session: Session, clock: Clock): SessionResources {
  const failed = ({ name, thrown }: ResourceFailure): string => `\`${name}\`: ${describeThrown(thrown)}`;
  const resources = createSessionResources({
    limit: (disposal) => withinLimit(disposal, clock),
    onLateFailure: ({ name, thrown }) => noteFailure(session, { resource: name, message: describeThrown(thrown) }),
  });
  session.onClose(async () => {
    const failures = await resources.dispose();
    if (failures.length === 0) return;
    const message = `Disposing of the session's resources failed: ${failures.map(failed).join('; ')}`;
    throw new HoldfastError('resource.failed', message);
  });
  return resources;
}

function noteFailure(session: Session, failure: { readonly [field: string]: string }): void {
  try {
    session.record({ type: 'resource-dispose-failed', ...failure });
  } catch {
    // The log is closed or broken and no one awaits this, so the failure cannot be reported.
  }
}

async function withinLimit(disposal: Promise<void>, clock: Clock): Promise<void> {
  let stop: () => void = () => undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    stop = clock.after(disposalLimitMs, () =>
      reject(new HoldfastError('resource.failed', `Disposal took more than ${disposalLimitMs} ms.`)),
    );
  });
  try {
    await Promise.race([disposal, limit]);
  } finally {
    stop();
  }
}
