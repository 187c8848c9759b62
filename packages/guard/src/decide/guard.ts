import { type Clock, type KeyedState, type Outcome, systemClock, type Tool } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { answerApproval, type CallOptions, resumeToolCall, type Suspended } from '@holdfast/executor';
import { type Released, releaseToolCall, settleToolCall } from '@holdfast/executor/internal';
import type { OpenCall } from '@holdfast/session/internal';
import { defineAgentTool, toToolName } from './agent-tool.ts';
import { decisions, digestCall, digestInput, type GuardDecision } from './decisions.ts';
import type { Guard, GuardedCall, GuardedCallName, GuardOptions, GuardReport, GuardVerdict, Placed } from './types.ts';
import { denial, factsAt, toCall, toKnownVerdict, toNewVerdict, toReport } from './verdict.ts';

const tenMinutes = 600_000;

/** @throws HoldfastError `options.invalid`. */
export function createGuard(options: GuardOptions): Guard {
  checkOptions('createGuard', options, rules);
  return new SessionGuard(options);
}

const rules = {
  session: 'object!',
  policies: 'list!',
  facts: 'object',
  approvalTimeoutMs: 'any',
  answerHoldsMs: 'any',
  clock: 'object',
} as const;

class SessionGuard implements Guard {
  readonly #options: GuardOptions;
  readonly #clock: Clock;
  readonly #tools = new Map<string, Tool>();
  /** Calls being decided, by the agent's id. */
  readonly #deciding = new Map<string, { readonly digest: string; readonly verdict: Promise<GuardVerdict> }>();
  #request: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    // A tool that only a policy names may yet be called.
    for (const name of options.policies.flatMap(({ tools }) => tools))
      this.#tools.set(toToolName(name), defineAgentTool(name));
    this.#clock = options.clock ?? systemClock;
  }

  async before(call: GuardedCall): Promise<GuardVerdict> {
    try {
      const digest = digestCall(call);
      const key = this.#keyOf(call, digest);
      for (let other = this.#deciding.get(key); other !== undefined; other = this.#deciding.get(key)) {
        if (other.digest === digest) return await other.verdict;
        // A different call under this id waits for the first one.
        await other.verdict;
      }
      const verdict = this.#decide(call, key, digest);
      this.#deciding.set(key, { digest, verdict });
      try {
        return await verdict;
      } finally {
        this.#deciding.delete(key);
      }
    } catch (thrown) {
      return denial(thrown);
    }
  }

  async after(call: GuardedCallName, report: GuardReport): Promise<Outcome | undefined> {
    const { session } = this.#options;
    const decided = this.#find(call);
    if (decided === undefined) return undefined;
    const { callId, inputDigest, askedBy } = decided;
    const open = session.openCall({ callId });
    const changed = report.input !== undefined && digestInput(decided.name, report.input) !== inputDigest;
    if (open === undefined) {
      this.#recordLate(decided, report);
      return undefined;
    }
    const options = this.#optionsFor(toCall(decided));
    if (open.start === undefined) {
      // The agent's own person was asked: a call that ran was approved there.
      if (askedBy !== 'agent' || report.ok === 'not-run') {
        // It ran although it was not released: the log keeps that.
        if (report.ok !== 'not-run') this.#recordLate(decided, report);
        return await this.#giveUp(open, options);
      }
      await answerApproval(session, callId, { type: 'approve' }, { by: 'agent', clock: this.#clock });
      const released = await releaseToolCall(callId, options);
      if (released.kind !== 'released') return released.kind === 'suspended' ? undefined : released;
    }
    return await settleToolCall(callId, toReport(report, changed), options);
  }

  async prompt(request: string): Promise<readonly Outcome[]> {
    const ended = await this.end();
    this.#request = request;
    return ended;
  }

  async end(): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { callId, start, run } of this.#options.session.openWork().calls) {
      if (start === undefined || run !== undefined) continue;
      const decided = this.#byCallId(callId);
      if (decided === undefined) continue;
      const report = { type: 'unknown', code: 'guard.unreported', message: 'The agent reported no result.' } as const;
      outcomes.push(await settleToolCall(callId, report, this.#optionsFor(toCall(decided))));
    }
    return outcomes;
  }

  /** A call without an id is new each time: `before` is all that tells of it. */
  #keyOf({ id, subAgentId, name }: GuardedCall, digest: string): string {
    if (id !== undefined) return subAgentId === undefined ? id : `${subAgentId}/${id}`;
    let count = 1;
    const base = `${toToolName(name)}~${digest.slice(0, 12)}`;
    const decided = this.#decided();
    while (decided.has(`${base}~${count}`) || this.#deciding.has(`${base}~${count}`)) count += 1;
    return `${base}~${count}`;
  }

  async #decide(call: GuardedCall, key: string, digest: string): Promise<GuardVerdict> {
    const known = this.#decided().get(key);
    if (known?.digest === digest && known.verdict !== 'ask') return toKnownVerdict(known);
    const left = this.#findLeft(call, { key, digest });
    if (left?.start !== undefined) return this.#note(call, { key, digest, callId: left.callId }, { kind: 'released' });
    const waiting = left ?? this.#findWaiting(digest);
    const [last] = waiting?.approvals.slice(-1) ?? [];
    if (waiting !== undefined && last !== undefined) {
      if (last.answer === undefined && this.#clock.now() < last.pending.expiresAtMs) {
        return this.#note(
          call,
          { key, digest, callId: waiting.callId },
          { kind: 'suspended', pending: [last.pending] },
        );
      }
      const options = this.#optionsFor(call);
      const { answeredAtMs = 0 } = last;
      const holdsMs = this.#options.answerHoldsMs ?? tenMinutes;
      if (last.answer?.type === 'approve' && this.#clock.now() - answeredAtMs >= holdsMs) {
        await this.#giveUp(waiting, options);
      } else {
        const released = await releaseToolCall(waiting.callId, options);
        return this.#note(call, { key, digest, callId: waiting.callId }, released);
      }
    }
    const callId = this.#freeId(key);
    const released = await releaseToolCall(
      { id: callId, name: toToolName(call.name), arguments: call.input },
      this.#optionsFor(call),
    );
    return this.#note(call, { key, digest, callId }, released);
  }

  /** Another call under the id of one that was told before gets a number. */
  #freeId(key: string): string {
    const decided = this.#decided();
    let callId = key;
    for (let count = 2; decided.has(callId) || this.#options.session.openCall({ callId }) !== undefined; count += 1) {
      callId = `${key}#${count}`;
    }
    return callId;
  }

  #note(
    call: GuardedCall,
    { key, digest, callId }: { readonly key: string; readonly digest: string; readonly callId: string },
    decided: Outcome | Suspended | Released,
  ): GuardVerdict {
    const { name, input, cwd: folder, workspace, agent, mode, agentAsks } = call;
    const verdict = toNewVerdict(decided);
    const noted: GuardDecision = {
      callId,
      digest,
      inputDigest: digestInput(name, input),
      verdict: verdict.type,
      ...(verdict.type === 'allow' ? {} : { reason: verdict.reason }),
      ...(verdict.type === 'deny' ? { code: verdict.code } : {}),
      name,
      ...(folder === undefined ? {} : { folder }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(agent === undefined ? {} : { agent }),
      ...(mode === undefined ? {} : { mode }),
      ...(verdict.type === 'ask' && agentAsks === true ? { askedBy: 'agent' } : {}),
      atMs: this.#clock.now(),
    };
    this.#options.session.dispatch({ type: 'guard-decided', payload: { key, ...noted } });
    return verdict;
  }

  /** The decision about a reported call; of calls without an id the oldest that has not ended. */
  #find({ id, subAgentId, name, input }: GuardedCallName): GuardDecision | undefined {
    if (id !== undefined) return this.#decided().get(subAgentId === undefined ? id : `${subAgentId}/${id}`);
    const digest = digestInput(name, input);
    for (const { callId } of this.#options.session.openWork().calls) {
      const decided = this.#byCallId(callId);
      if (decided?.inputDigest === digest) return decided;
    }
    return undefined;
  }

  #byCallId(callId: string): GuardDecision | undefined {
    const known = this.#decided().get(callId);
    if (known?.callId === callId) return known;
    return [...this.#decided()].map(([, decided]) => decided).find((decided) => decided.callId === callId);
  }

  /**
   * The record of this very call, by a process that ended before it noted its decision: the same id, tool and input, or a question of the
   * guard's whose yes was used. Released anew, it would spend a budget twice.
   */
  #findLeft(
    call: GuardedCall,
    { key, digest }: { readonly key: string; readonly digest: string },
  ): OpenCall | undefined {
    const inputDigest = digestInput(toToolName(call.name), call.input);
    return this.#options.session.openWork().calls.find(({ callId, name, rawArguments = null, start }) => {
      if (start?.interrupted === false) return false;
      const notes = [...this.#decided()].map(([, decided]) => decided).filter((decided) => decided.callId === callId);
      if (notes.length === 0) return callId === key && digestInput(name, rawArguments) === inputDigest;
      const isUnnoted = notes.every(({ verdict, askedBy }) => verdict === 'ask' && askedBy === undefined);
      return start !== undefined && isUnnoted && notes.some((noted) => noted.digest === digest);
    });
  }

  /** A question about an equal call that has not been used. */
  #findWaiting(digest: string): OpenCall | undefined {
    return this.#options.session
      .openWork()
      .calls.find(
        ({ approvals, callId, start }) =>
          start === undefined && approvals.length > 0 && this.#byCallId(callId)?.digest === digest,
      );
  }

  /** Drops a question that is no longer needed. */
  async #giveUp({ callId }: OpenCall, options: CallOptions): Promise<Outcome | undefined> {
    const ended = await resumeToolCall(callId, { ...options, signal: AbortSignal.abort() });
    return ended.kind === 'suspended' ? undefined : ended;
  }

  /** A report that comes after the end of its call is kept beside it, and changes nothing. */
  #recordLate({ callId, name }: GuardDecision, { ok, value, message }: GuardReport): void {
    this.#options.session.record({
      type: 'tool-call-late',
      callId,
      name: toToolName(name),
      answer: ok === true ? 'returned' : 'threw',
      ...(value === undefined ? {} : { value }),
      ...(message === undefined ? {} : { message }),
      atMs: this.#clock.now(),
    });
  }

  #optionsFor(call: Placed): CallOptions {
    const { session, policies, facts, approvalTimeoutMs } = this.#options;
    const toolName = toToolName(call.name);
    if (!this.#tools.has(toolName)) this.#tools.set(toolName, defineAgentTool(call.name));
    return {
      session,
      policies,
      tools: [...this.#tools.values()],
      clock: this.#clock,
      ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
      ...(facts === undefined ? {} : { facts: factsAt(facts, call) }),
      ...(this.#request === undefined ? {} : { request: this.#request }),
    };
  }

  #decided(): KeyedState<GuardDecision> {
    return this.#options.session.read(decisions);
  }
}
