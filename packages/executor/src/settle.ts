import { describeThrown, type PreparedCall, type Tool, type ToolCallEndEvent, type Touched } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import type { CallResources } from './call-resources.ts';
import type { CallScope } from './call-scope.ts';
import { commit, nothingPrepared, type PreparedResources, uncommitted } from './commit.ts';
import { withEarlierDoubt } from './earlier-doubt.ts';
import { type Ending, failure, readAnswer, thrownCode, withDoubt } from './ending.ts';
import type { Invoked } from './invoke.ts';
import { isNested } from './is-nested.ts';
import { recordEnd } from './record-end.ts';
import { markChanges } from './recover-resources.ts';
import { learnReturned } from './secrets.ts';
import type { CompiledTool } from './toolset.ts';
import { type Trail, toEndEvent } from './trail.ts';

/** A call whose tool has been run. */
export interface Entered {
  readonly scope: CallScope;
  readonly trail: Trail;
  readonly call: PreparedCall;
  readonly compiled: CompiledTool;
  readonly transaction: SessionTransaction;
  readonly resources: CallResources;
}

/**
 * Ends a call by what its tool did: a success is committed with the policies' next states in one record, anything else is
 * discarded, whatever throws wherever. Answers with the end event, which is in the log.
 */
export function settle(invoked: Invoked, entered: Entered): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  // The tool has had its word: what it does from now on, while policies are asked and resources prepared, comes too late.
  entered.resources.seal();
  if (invoked.type === 'returned') learnReturned(entered.scope.session.redactor, entered.compiled, invoked.value);
  const answer = readAnswer(invoked, entered.compiled);
  // Most calls use no resource, and then nothing here needs time.
  if (entered.resources.holdsResources) return settleStaged(answer, entered);
  if (answer.kind !== 'ok') return drop(withDoubt(answer, entered.compiled.tool, entered.trail), entered);
  const committed = commit(answer, entered, nothingPrepared);
  return committed instanceof Promise ? committed.then((late) => orDrop(late, entered)) : orDrop(committed, entered);
}

function orDrop(committed: ToolCallEndEvent | Ending, entered: Entered): ToolCallEndEvent {
  return 'type' in committed ? committed : drop(committed, entered);
}

async function settleStaged(answer: Ending, entered: Entered): Promise<ToolCallEndEvent> {
  try {
    return await endStaged(answer, entered);
  } finally {
    await entered.resources.dispose();
  }
}

async function endStaged(answer: Ending, entered: Entered): Promise<ToolCallEndEvent> {
  const { compiled, trail, resources } = entered;
  let ending = withDoubt(answer, compiled.tool, trail);
  if (answer.kind === 'ok') {
    const prepared = await prepareResources(entered);
    const committing = 'kind' in prepared ? prepared : commit(answer, entered, prepared);
    const committed = committing instanceof Promise ? await committing : committing;
    if ('type' in committed) {
      if ('touched' in prepared) noteNested(prepared.touched, entered.scope);
      return await applyResources(committed, entered);
    }
    ending = committed;
  }
  return drop(await discardResources(ending, resources), entered);
}

/** Ends an entered call that may not count: whatever its tool did is dropped. */
export async function refuse(ending: Ending, entered: Entered): Promise<ToolCallEndEvent> {
  const { resources } = entered;
  resources.stop('aborted');
  resources.seal();
  const ended = await discardResources(ending, resources);
  await resources.dispose();
  return drop(ended, entered);
}

/** Drops what an entered call did and says nothing about it: it will be asked for again, or has not been asked for at all. */
export async function abandon({ resources, transaction, scope }: Entered): Promise<void> {
  resources.stop('aborted');
  resources.seal();
  transaction.discard();
  for (const [resource, staged] of resources.staged) {
    try {
      await staged.discard();
    } catch (thrown) {
      const message = describeThrown(thrown);
      scope.session.record({ type: 'resource-discard-failed', callId: resources.call.id, resource, message });
    }
  }
  await resources.dispose();
}

/** What is declared to read only must not write: such calls run beside others. */
function exceededWrites({ name, effects }: Tool, touched: ReadonlyMap<string, Touched>): Ending | undefined {
  if (effects !== 'none') return undefined;
  for (const [resource, { writes }] of touched) {
    if (writes.length === 0) continue;
    const message = `\`${name}\` declares effects \`none\`, but wrote to \`${resource}\`; it has to declare \`state\`.`;
    return failure('failed', { code: 'tool.effects.exceeded', message });
  }
  return undefined;
}

/** Drops what the session has staged and writes down how the call ended. */
function drop(ending: Ending, { scope, trail, transaction, resources }: Entered): ToolCallEndEvent {
  transaction.discard();
  return recordEnd(trail, withEarlierDoubt(ending, trail, true), scope, resources.reservations);
}

// The policies of a child session are not those of the call around it, which have been told nothing.
function noteNested(touched: ReadonlyMap<string, Touched>, scope: CallScope): void {
  if (isNested(scope)) scope.parent?.noteNested(touched);
}

/** Makes sure that what is staged can be applied; or says why it cannot. */
async function prepareResources({ compiled, resources, scope }: Entered): Promise<Ending | PreparedResources> {
  try {
    const touched = resources.touched();
    const exceeded = exceededWrites(compiled.tool, touched);
    if (exceeded !== undefined) return exceeded;
    // What is nested is applied to the call around it, and lost with it; a log that ends with the process decides nothing.
    const lasting =
      scope.session.lasting &&
      scope.parent === undefined &&
      [...touched.values()].some(({ writes }) => writes.length > 0);
    const mark = lasting ? markChanges(scope.session) : undefined;
    for (const staged of resources.staged.values()) await staged.prepare(mark);
    return { touched, mark };
  } catch (thrown) {
    return uncommitted(thrown, compiled.tool);
  }
}

/**
 * Lets prepared changes be seen. The record has decided already, so every part is tried, whatever becomes of the others, and a
 * failure leaves the call in doubt.
 */
async function applyResources(
  event: ToolCallEndEvent,
  { scope, trail, resources }: Entered,
): Promise<ToolCallEndEvent> {
  const failed = (await findUnsynced(scope)) ?? (await commitAll(resources));
  if (failed === undefined) return event;
  const { thrown } = failed;
  const message = `The call is recorded as done, but its changes could not be applied: ${describeThrown(thrown)}`;
  // What the nested call did to the session is in the transaction around it, which now has only a part of the whole.
  if (isNested(scope)) scope.parent?.broke(thrown);
  const unrecorded = noteApplyFailure(scope, trail, message);
  const ending = failure(
    'in-doubt',
    { code: thrownCode(thrown, 'resource.apply_failed'), message: `${message}${unrecorded}` },
    { thrown },
  );
  return toEndEvent(trail, ending, scope);
}

/** Nothing is applied that a loss of power could take the record of away: without it nobody would put it back. */
async function findUnsynced({ parent, session }: CallScope): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    if (parent === undefined) await session.sync();
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

async function commitAll({ staged }: CallResources): Promise<{ readonly thrown: unknown } | undefined> {
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

function noteApplyFailure({ session }: CallScope, { call }: Trail, message: string): string {
  try {
    session.record({ type: 'resource-apply-failed', callId: call.id, message });
    return '';
  } catch (thrown) {
    return ` Nor could that be recorded: ${describeThrown(thrown)}`;
  }
}

export async function discardResources(ending: Ending, resources: CallResources): Promise<Ending> {
  let failed: { readonly name: string; readonly thrown: unknown } | undefined;
  for (const [name, staged] of resources.staged) {
    try {
      await staged.discard();
    } catch (thrown) {
      failed ??= { name, thrown };
    }
  }
  if (failed === undefined) return ending;
  const { kind, code, value, abandoned, error } = ending;
  const message = `${ending.message} What it had staged in \`${failed.name}\` could not be cleaned up: ${describeThrown(failed.thrown)}`;
  const extended = failure(
    kind === 'ok' ? 'failed' : kind,
    { code: code ?? 'resource.discard_failed', message },
    { thrown: failed.thrown, value, ...(abandoned === undefined ? {} : { abandoned }) },
  );
  return error === undefined ? extended : { ...extended, error };
}
