import type { ResourceDefinition, ResourceTransaction, StagedResource, ToolCallEndEvent } from '@holdfast/core';
import {
  describeThrown,
  isResourceDefinition,
  isStagedResource,
  ReadOnlyMap,
  toProblem,
} from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';
import { failure, uncommitted, withDoubt } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { commit, drop, type PreparedResources, toEndEvent } from '../call/settle.ts';
import type { CallResources, Ending } from '../call/types.ts';
import { DeclaredResources } from './declared.ts';
import { noteSettled, noteStaged } from './host.ts';
import { markChanges } from './recover.ts';

/** The resources of a call, created on first use. */
export class StagedResources implements CallResources {
  readonly #call: RunningCall;
  readonly #staged = new Map<string, ResourceTransaction>();
  /** Names of those whose prepared changes outlive the process. */
  readonly #lasting = new Set<string>();
  #views: ReadonlyMap<string, unknown> | undefined;
  #unopened: { readonly thrown: unknown } | undefined;
  #declared: DeclaredResources | undefined;

  constructor(call: RunningCall) {
    this.#call = call;
  }

  get staged(): ReadonlyMap<string, ResourceTransaction> {
    return this.#staged;
  }

  get lasting(): ReadonlySet<string> {
    return this.#lasting;
  }

  get holds(): boolean {
    return this.#staged.size > 0 || this.#declared !== undefined;
  }

  // All or none: a second try would begin parts again.
  get views(): ReadonlyMap<string, unknown> {
    if (this.#unopened !== undefined) throw this.#unopened.thrown;
    try {
      this.#views ??= this.#beginAll();
      return this.#views;
    } catch (thrown) {
      this.#unopened = { thrown };
      throw thrown;
    }
  }

  get declared(): DeclaredResources {
    this.#declared ??= new DeclaredResources(this.#call, {
      around: this.#call.scope.parent && resourcesOf(this.#call.scope.parent).declared,
      stage: (name, resource, part) => this.#stage(name, resource, part),
    });
    return this.#declared;
  }

  use<Value>(resource: ResourceDefinition<Value>): Promise<Value> {
    return this.declared.use(resource);
  }

  touched(): ReadonlyMap<string, Touched> {
    return new Map([...this.#staged].map(([name, staged]) => [name, staged.touched()]));
  }

  seal(): { readonly thrown: unknown } | undefined {
    let broken: { readonly thrown: unknown } | undefined;
    for (const staged of this.#staged.values()) {
      try {
        staged.seal();
      } catch (thrown) {
        broken ??= { thrown };
      }
    }
    return broken;
  }

  /** Disposes what was created for this call. */
  async dispose(): Promise<void> {
    await this.#declared?.dispose();
  }

  /** Adds a resource's part to the call's transaction. The second instance under one name is `name#2`. */
  #stage(name: string, resource: StagedResource, part: ResourceTransaction): void {
    let key = name;
    for (let count = 2; this.#staged.has(key); count += 1) key = `${name}#${count}`;
    this.#staged.set(key, part);
    if (resource.recover !== undefined) this.#lasting.add(key);
  }

  #beginAll(): ReadonlyMap<string, unknown> {
    const { call, scope } = this.#call;
    const views = new Map<string, unknown>();
    for (const [name, resource] of scope.resources) {
      if (isStagedResource(resource)) {
        const staged = resource.begin(call.id);
        this.#stage(name, resource, staged);
        views.set(name, staged.view);
      } else if (!isResourceDefinition(resource)) {
        views.set(name, resource);
      }
    }
    return new ReadOnlyMap(views);
  }
}

/** Only this room creates the resources of a call. */
function resourcesOf(call: RunningCall): StagedResources {
  return call.openResources() as StagedResources;
}

/** Settles a call that has resources: prepares a success, commits it with its record, then applies it; discards anything else. */
export async function settleStaged(answer: Ending, call: RunningCall): Promise<ToolCallEndEvent> {
  const resources = resourcesOf(call);
  try {
    return await endStaged(answer, call, resources);
  } finally {
    await resources.dispose();
  }
}

async function endStaged(answer: Ending, call: RunningCall, resources: StagedResources): Promise<ToolCallEndEvent> {
  let ending = withDoubt(answer, call.compiled.tool, call);
  if (answer.kind === 'ok') {
    const prepared = await prepareResources(call, resources);
    const committed = 'kind' in prepared ? prepared : await commit(answer, call, prepared);
    if ('type' in committed) return await applyResources(committed, call);
    ending = committed;
  }
  return drop(await discardResources(ending, call), call);
}

/** Ends a call that has begun but may not count; its changes are discarded. */
export async function refuse(ending: Ending, call: RunningCall): Promise<ToolCallEndEvent> {
  const ended = await discardResources(ending, close(call));
  await disposeResources(call);
  return drop(ended, call);
}

/** Discards a call without a record: it will be made again, or was never requested. */
export async function abandon(call: RunningCall): Promise<void> {
  close(call).written?.discard();
  for (const [resource, staged] of call.staged) {
    try {
      await staged.discard();
    } catch (thrown) {
      const message = describeThrown(thrown);
      call.scope.session.record({ type: 'resource-discard-failed', callId: call.call.id, resource, message });
    }
  }
  await disposeResources(call);
}

function close(call: RunningCall): RunningCall {
  call.stop('aborted');
  call.seal();
  return call;
}

export async function disposeResources(call: RunningCall): Promise<void> {
  if (call.resources !== undefined) await resourcesOf(call).dispose();
}

/** A read-only tool must not write, because such calls run in parallel. */
function exceededWrites(
  { compiled: { tool } }: RunningCall,
  touched: ReadonlyMap<string, Touched>,
): Ending | undefined {
  if (tool.effects !== 'none') return undefined;
  for (const [resource, { writes }] of touched) {
    if (writes.length === 0) continue;
    const message = `\`${tool.name}\` declares effects \`none\`, but wrote to \`${resource}\`; declare \`state\`.`;
    return failure('failed', { code: 'tool.effects.exceeded', message });
  }
  return undefined;
}

/** Checks that the staged changes can be applied, or returns why not. */
async function prepareResources(call: RunningCall, resources: StagedResources): Promise<Ending | PreparedResources> {
  const { scope, compiled } = call;
  try {
    const touched = resources.touched();
    const exceeded = exceededWrites(call, touched);
    if (exceeded !== undefined) return exceeded;
    // Nested changes are applied to the outer call and lost with it; an in-memory log decides nothing after a crash.
    const lasting =
      scope.session.lasting &&
      scope.parent === undefined &&
      [...touched.values()].some(({ writes }) => writes.length > 0);
    const mark = lasting ? markChanges(scope.session) : undefined;
    for (const staged of resources.staged.values()) await staged.prepare(mark);
    if (mark !== undefined) noteStaged(call, { mark, touched, lasting: resources.lasting });
    return { touched, mark };
  } catch (thrown) {
    return uncommitted(thrown, compiled.tool);
  }
}

/** Applies prepared changes. The record has decided, so every part is tried even if others fail; a failure leaves the call in doubt. */
async function applyResources(event: ToolCallEndEvent, call: RunningCall): Promise<ToolCallEndEvent> {
  const { scope } = call;
  if (call.staged.size === 0) return event;
  const failed = (await findUnsynced(scope)) ?? (await commitAll(call));
  if (failed === undefined) {
    noteSettled(call, event);
    return event;
  }
  const { thrown } = failed;
  const message = `The call is recorded as done, but its changes could not be applied: ${describeThrown(thrown)}`;
  // The outer transaction now has only part of the nested call's changes.
  if (scope.nested) scope.parent?.broke(thrown);
  const unrecorded = noteApplyFailure(call, message);
  const problem = toProblem(thrown, { code: 'resource.failed', reason: 'apply' }, `${message}${unrecorded}`);
  return toEndEvent(failure('in-doubt', problem, { thrown }), call);
}

// Sync the log before applying: after a power loss, an applied change without its record could not be rolled back.
async function findUnsynced({ parent, session }: CallScope): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    if (parent === undefined) await session.sync();
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

async function commitAll({ staged }: RunningCall): Promise<{ readonly thrown: unknown } | undefined> {
  let failed: { readonly thrown: unknown } | undefined;
  for (const part of staged.values()) {
    try {
      await part.commit();
    } catch (thrown) {
      failed ??= { thrown };
    }
  }
  return failed;
}

function noteApplyFailure({ scope, call }: RunningCall, message: string): string {
  try {
    scope.session.record({ type: 'resource-apply-failed', callId: call.id, message });
    return '';
  } catch (thrown) {
    return ` This could not be recorded either: ${describeThrown(thrown)}`;
  }
}

export async function discardResources(ending: Ending, call: RunningCall): Promise<Ending> {
  let failed: { readonly name: string; readonly thrown: unknown } | undefined;
  for (const [name, staged] of call.staged) {
    try {
      await staged.discard();
    } catch (thrown) {
      failed ??= { name, thrown };
    }
  }
  if (failed === undefined) return ending;
  const { kind, code, reason, value, abandoned, error } = ending;
  const message = `${ending.message} Its changes staged in \`${failed.name}\` could not be discarded: ${describeThrown(failed.thrown)}`;
  const extended = failure(
    kind === 'ok' ? 'failed' : kind,
    code === undefined ? { code: 'resource.failed', reason: 'discard', message } : { code, reason, message },
    { thrown: failed.thrown, value, ...(abandoned === undefined ? {} : { abandoned }) },
  );
  return error === undefined ? extended : { ...extended, error };
}
