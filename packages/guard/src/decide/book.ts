import type { KeyedState } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { OpenCall } from '@holdfast/session/internal';
import { toToolName } from './agent-tool.ts';
import { decisions, digestInput, type GuardDecision, toKey } from './decisions.ts';
import type { GuardedCall, GuardedCallName } from './types.ts';

/** Finds decisions and open calls in a guard's session. */
export class DecisionBook {
  readonly #session: Session;
  #notes:
    | { readonly of: KeyedState<GuardDecision>; readonly byCallId: ReadonlyMap<string, readonly GuardDecision[]> }
    | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** By key: the agent's name for the call. */
  all(): KeyedState<GuardDecision> {
    return this.#session.read(decisions);
  }

  /** Another call under the id of one that was told before gets a number. */
  freeId(key: string): string {
    const decided = this.all();
    let callId = key;
    for (let count = 2; decided.has(callId) || this.#session.openCall({ callId }) !== undefined; count += 1) {
      callId = `${key}#${count}`;
    }
    return callId;
  }

  /** The decision about a reported call; of calls without an id the oldest that has not ended. */
  find({ id, subAgentId, name, input }: GuardedCallName): GuardDecision | undefined {
    if (id !== undefined) return this.all().get(toKey(id, subAgentId));
    const digest = digestInput(name, input);
    for (const { callId } of this.#session.openWork().calls) {
      const decided = this.byCallId(callId);
      if (decided?.inputDigest === digest) return decided;
    }
    return undefined;
  }

  byCallId(callId: string): GuardDecision | undefined {
    const known = this.all().get(callId);
    if (known?.callId === callId) return known;
    return this.#notesAbout(callId)[0];
  }

  /** All decisions about a call of our session, which may have been told under several names. */
  #notesAbout(callId: string): readonly GuardDecision[] {
    const of = this.all();
    if (this.#notes?.of !== of) {
      const decided = [...of].map(([, decision]) => decision);
      this.#notes = { of, byCallId: Map.groupBy(decided, (decision) => decision.callId) };
    }
    return this.#notes.byCallId.get(callId) ?? [];
  }

  /**
   * The record of this very call, by a process that ended before it noted its decision: the same id, tool and input, or a question of the
   * guard's whose yes was used. Released anew, it would spend a budget twice.
   */
  findLeft(
    call: GuardedCall,
    { key, digest }: { readonly key: string; readonly digest: string },
  ): OpenCall | undefined {
    const { calls } = this.#session.openWork();
    if (calls.length === 0) return undefined;
    const inputDigest = digestInput(toToolName(call.name), call.input);
    return calls.find(({ callId, name, rawArguments = null, start }) => {
      if (start?.interrupted === false) return false;
      const notes = this.#notesAbout(callId);
      if (notes.length === 0) return callId === key && digestInput(name, rawArguments) === inputDigest;
      const isUnnoted = notes.every(({ verdict, askedBy }) => verdict === 'ask' && askedBy === undefined);
      return start !== undefined && isUnnoted && notes.some((noted) => noted.digest === digest);
    });
  }

  /** The agent's ids of calls whose question its own person has to answer. */
  asked({ name, subAgentId }: Pick<GuardedCall, 'name' | 'subAgentId'>): readonly string[] {
    const open = this.#session.openWork().calls.filter(({ start }) => start === undefined);
    if (open.length === 0) return [];
    const waiting = new Set(open.map(({ callId }) => callId));
    const prefix = toKey('', subAgentId);
    return [...this.all()].flatMap(([key, { callId, askedBy, verdict, name: asked }]) => {
      const isOpen = verdict === 'ask' && askedBy === 'agent' && waiting.has(callId);
      return isOpen && asked === name && key.startsWith(prefix) ? [key.slice(prefix.length)] : [];
    });
  }

  /** A question about an equal call that has not been used. */
  findWaiting(digest: string): OpenCall | undefined {
    return this.#session
      .openWork()
      .calls.find(
        ({ approvals, callId, start }) =>
          start === undefined && approvals.length > 0 && this.byCallId(callId)?.digest === digest,
      );
  }
}
