import { type Clock, type Outcome, systemClock } from '@holdfast/core';
import { checkOptions } from '@holdfast/core/internal';
import { answerApproval, type CallOptions, resumeToolCall, type Suspended } from '@holdfast/executor';
import { type Released, releaseToolCall, settleToolCall } from '@holdfast/executor/internal';
import type { OpenCall } from '@holdfast/session/internal';
import { AgentTools, toToolName } from './agent-tool.ts';
import { DecisionBook } from './book.ts';
import { digestCall, digestInput, type GuardDecision, toKey } from './decisions.ts';
import { findEnding, recordLate, toEnding } from './ending.ts';
import type {
  GuardedCall,
  GuardedCallName,
  GuardOptions,
  GuardRelease,
  GuardReport,
  GuardVerdict,
  Placed,
  ReleasingGuard,
} from './types.ts';
import { denial, factsAt, toCall, toKnownVerdict, toNewVerdict, toReport, unreported } from './verdict.ts';

const done = Promise.resolve();
const nothing = (): void => undefined;

/** @throws HoldfastError `options.invalid`. */
export function createGuard(options: GuardOptions): ReleasingGuard {
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

interface Deciding {
  readonly key: string;
  readonly digest: string;
  readonly verdict: Promise<GuardVerdict>;
}

class SessionGuard implements ReleasingGuard {
  readonly #options: GuardOptions;
  readonly #clock: Clock;
  readonly #book: DecisionBook;
  readonly #tools = new AgentTools();
  /** Calls being decided, by the agent's id. */
  readonly #deciding = new Map<string, Deciding>();
  /** The last release of equal calls, by digest. */
  readonly #releasing = new Map<string, Promise<void>>();
  #request: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#book = new DecisionBook(options.session);
    // A tool that only a policy names may yet be called.
    for (const name of options.policies.flatMap(({ mentions }) => mentions)) this.#tools.add(name);
    this.#clock = options.clock ?? systemClock;
  }

  before(call: GuardedCall): Promise<GuardVerdict> {
    return this.#judge(call);
  }

  async #judge(call: GuardedCall, known?: string): Promise<GuardVerdict> {
    try {
      const digest = known ?? digestCall(call);
      const key = this.#keyOf(call, digest);
      for (let other = this.#beside(key, digest); other !== undefined; other = this.#beside(key, digest)) {
        if (other.key === key && other.digest === digest) return await other.verdict;
        // Another call under this id, and an equal one, which may use the same yes, wait for the first one.
        await other.verdict;
      }
      const verdict = this.#decide(call, key, digest);
      this.#deciding.set(key, { key, digest, verdict });
      try {
        return await verdict;
      } finally {
        this.#deciding.delete(key);
      }
    } catch (thrown) {
      return denial(thrown);
    }
  }

  async release(call: GuardedCall & { readonly id: string }): Promise<GuardRelease> {
    try {
      const digest = digestCall(call);
      // Equal calls may share a question: each takes its yes before the next one looks.
      const turn = (this.#releasing.get(digest) ?? done).then(() => this.#release(call, digest));
      const settled = turn.then(nothing, nothing);
      this.#releasing.set(digest, settled);
      try {
        return await turn;
      } finally {
        if (this.#releasing.get(digest) === settled) this.#releasing.delete(digest);
      }
    } catch (thrown) {
      return denial(thrown);
    }
  }

  async after(call: GuardedCallName, report: GuardReport): Promise<Outcome | undefined> {
    const { session } = this.#options;
    const decided = this.#book.find(call);
    if (decided === undefined) return undefined;
    const { callId, inputDigest, askedBy } = decided;
    const open = session.openCall({ callId });
    const changed = report.input !== undefined && digestInput(decided.name, report.input) !== inputDigest;
    if (open === undefined) {
      recordLate(session, decided, { report, atMs: this.#clock.now() });
      return undefined;
    }
    const options = this.#optionsFor(toCall(decided));
    if (open.start === undefined) {
      // The agent's own person was asked: a call that ran was approved there.
      if (askedBy !== 'agent' || report.ok === 'not-run') {
        // It ran although it was not released: the log keeps that.
        if (report.ok !== 'not-run') recordLate(session, decided, { report, atMs: this.#clock.now() });
        return await this.#giveUp(open, options);
      }
      await answerApproval(session, callId, { type: 'approve' }, { by: 'agent', clock: this.#clock });
      const released = await releaseToolCall(callId, options);
      if (released.kind !== 'released') return released.kind === 'suspended' ? undefined : released;
    }
    return await settleToolCall(callId, toReport(report, changed), options);
  }

  async refuse(
    call: GuardedCallName & { readonly id: string },
    reason = 'A person said no.',
  ): Promise<Outcome | undefined> {
    const { session } = this.#options;
    const decided = this.#book.find(call);
    if (decided?.verdict !== 'ask' || decided.askedBy !== 'agent') return undefined;
    const denied = { ...decided, verdict: 'deny', reason, code: 'approval.denied' };
    session.dispatch({ type: 'guard-decided', payload: { key: toKey(call.id, call.subAgentId), ...denied } });
    const open = session.openCall({ callId: decided.callId });
    // It may share its question with an equal call, to which there was a yes.
    if (open === undefined || open.start !== undefined) return undefined;
    const options = this.#optionsFor(toCall(decided));
    const last = open.approvals.at(-1);
    if (last === undefined || last.answer !== undefined || this.#clock.now() >= last.pending.expiresAtMs)
      return await this.#giveUp(open, options);
    await answerApproval(session, decided.callId, { type: 'deny', reason }, { by: 'agent', clock: this.#clock });
    const ended = await releaseToolCall(decided.callId, options);
    return ended.kind === 'suspended' || ended.kind === 'released' ? undefined : ended;
  }

  asked(tool: Pick<GuardedCall, 'name' | 'subAgentId'>): readonly string[] {
    return this.#book.asked(tool);
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
      const decided = this.#book.byCallId(callId);
      if (decided === undefined) continue;
      outcomes.push(await settleToolCall(callId, unreported, this.#optionsFor(toCall(decided))));
    }
    return outcomes;
  }

  async #release(call: GuardedCall & { readonly id: string }, digest: string): Promise<GuardRelease> {
    const told = this.#book.find(call);
    const known = told?.digest === digest ? told : undefined;
    if (known?.verdict === 'allow') return await this.#begin(call);
    let verdict = await this.#judge(call, digest);
    if (verdict.type === 'ask' && known?.askedBy === 'agent') {
      const { callId } = verdict.pending;
      await answerApproval(this.#options.session, callId, { type: 'approve' }, { by: 'agent', clock: this.#clock });
      verdict = await this.#judge(call, digest);
    }
    return verdict.type === 'allow' ? await this.#begin(call) : verdict;
  }

  /** Claims the one run of a released call. */
  async #begin(call: GuardedCall & { readonly id: string }): Promise<GuardRelease> {
    const { session } = this.#options;
    const decided = this.#book.find(call);
    if (decided === undefined) return denial(new Error('its decision is missing'));
    const open = session.openCall({ callId: decided.callId });
    if (decided.begun !== true && open !== undefined) {
      session.dispatch({ type: 'guard-begun', payload: { key: this.#keyOf(call, decided.digest) } });
      await session.sync();
      return { type: 'allow' };
    }
    if (open === undefined) return { type: 'ended', ending: findEnding(session, decided.callId) };
    if (open.start?.interrupted !== true) {
      const reason = `\`${call.name}\` is already running under this call id.`;
      return { type: 'deny', code: 'work.under_way', reason };
    }
    const ended = await settleToolCall(decided.callId, unreported, this.#optionsFor(toCall(decided)));
    return { type: 'ended', ending: toEnding(ended) };
  }

  /** A call without an id is new each time: `before` is all that tells of it. */
  #keyOf({ id, subAgentId, name }: GuardedCall, digest: string): string {
    if (id !== undefined) return toKey(id, subAgentId);
    let count = 1;
    const base = `${toToolName(name)}~${digest.slice(0, 12)}`;
    const decided = this.#book.all();
    while (decided.has(`${base}~${count}`) || this.#deciding.has(`${base}~${count}`)) count += 1;
    return `${base}~${count}`;
  }

  /** The same call, or an equal one, that is being decided. */
  #beside(key: string, digest: string): Deciding | undefined {
    if (this.#deciding.size === 0) return undefined;
    return this.#deciding.get(key) ?? [...this.#deciding.values()].find((other) => other.digest === digest);
  }

  async #decide(call: GuardedCall, key: string, digest: string): Promise<GuardVerdict> {
    const known = this.#book.all().get(key);
    if (known?.digest === digest && known.verdict !== 'ask') return toKnownVerdict(known);
    const left = this.#book.findLeft(call, { key, digest });
    if (left?.start !== undefined) return this.#note(call, { key, digest, callId: left.callId }, { kind: 'released' });
    const waiting = left ?? this.#book.findWaiting(digest);
    const [last] = waiting?.approvals.slice(-1) ?? [];
    if (waiting !== undefined && last !== undefined) {
      if (last.answer === undefined && this.#clock.now() < last.pending.expiresAtMs) {
        const asked = { kind: 'suspended', pending: [last.pending] } as const;
        const isKnown = known?.digest === digest && known.callId === waiting.callId;
        return isKnown ? toNewVerdict(asked) : this.#note(call, { key, digest, callId: waiting.callId }, asked);
      }
      const options = this.#optionsFor(call);
      const { answeredAtMs = 0 } = last;
      const holdsMs = this.#options.answerHoldsMs ?? 600_000;
      if (last.answer?.type === 'approve' && this.#clock.now() - answeredAtMs >= holdsMs) {
        await this.#giveUp(waiting, options);
      } else {
        const released = await releaseToolCall(waiting.callId, options);
        return this.#note(call, { key, digest, callId: waiting.callId }, released);
      }
    }
    const callId = this.#book.freeId(key);
    const released = await releaseToolCall(
      { id: callId, name: toToolName(call.name), arguments: call.input },
      this.#optionsFor(call),
    );
    return this.#note(call, { key, digest, callId }, released);
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
      inputDigest: folder === undefined ? digest : digestInput(name, input),
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

  /** Drops a question that is no longer needed. */
  async #giveUp({ callId }: OpenCall, options: CallOptions): Promise<Outcome | undefined> {
    const ended = await resumeToolCall(callId, { ...options, signal: AbortSignal.abort() });
    return ended.kind === 'suspended' ? undefined : ended;
  }

  #optionsFor(call: Placed): CallOptions {
    const { session, policies, facts, approvalTimeoutMs } = this.#options;
    this.#tools.add(call.name);
    return {
      session,
      policies,
      tools: this.#tools.list,
      clock: this.#clock,
      ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
      ...(facts === undefined ? {} : { facts: factsAt(facts, call) }),
      ...(this.#request === undefined ? {} : { request: this.#request }),
    };
  }
}
