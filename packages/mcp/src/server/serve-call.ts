import { type Clock, isHoldfastError, type Outcome, systemClock, type Tool } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  recoverSession,
  resumeToolCall,
  type Suspended,
} from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import type { OpenApproval, OpenCall } from '@holdfast/session/internal';
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { Elicit } from '../client/elicit.ts';
import { type Relay, relayResource } from '../client/relay.ts';
import { readTraceContext } from '../client/trace-context.ts';
import { AskedCalls } from './asked-calls.ts';
import { type ClientCall, canElicit, isEqualCall, toCallId } from './client-call.ts';
import { denyWithheld, type ServedTools, toHeldTool } from './declare-tools.ts';
import { askClient, readClientAnswer } from './question.ts';
import { noteEvent, type Refusals } from './refusals.ts';
import { newRequestState } from './request-state.ts';
import { errorResult, isPassedOn, toCallResult } from './results.ts';
import type { McpSessions } from './sessions.ts';

/** The options of a runner that a host sets for the calls of clients. */
export type ServedCallOptions = Pick<
  CallOptions,
  | 'policies'
  | 'grants'
  | 'resources'
  | 'facts'
  | 'approvalTimeoutMs'
  | 'timeoutMs'
  | 'maxResultChars'
  | 'policyTimeoutMs'
>;

export interface CallServerOptions extends ServedCallOptions {
  readonly sessions: McpSessions;
  readonly request?: ((principal: string) => string | undefined) | undefined;
  readonly waitMs: number;
  readonly clock?: Clock | undefined;
  readonly refusals: Refusals;
}

/** A person's yes to a call holds for an equal one that comes within this time. */
const answerHoldsMs = 600_000;
const pollMs = 500;

interface Held {
  session: Session;
  isOpen: boolean;
}

/** Runs the calls of clients, on the path of every other call. */
export class CallServer {
  readonly #source: ServedTools;
  readonly #options: CallServerOptions;
  readonly #clock: Clock;
  readonly #asked: AskedCalls;
  /** Ids of calls that are being resumed. */
  readonly #resuming = new Set<string>();
  /** Sessions without calls that an ended process left open. */
  readonly #recovered = new WeakSet<Session>();
  #callable: Record<'tools' | 'withheld' | 'all', readonly Tool[]> | undefined;

  constructor(source: ServedTools, options: CallServerOptions) {
    this.#source = source;
    this.#options = { ...options, policies: [...denyWithheld(source), ...(options.policies ?? [])] };
    this.#clock = options.clock ?? systemClock;
    this.#asked = new AskedCalls(this.#clock, options.approvalTimeoutMs ?? 3_600_000);
  }

  /** @throws ProtocolError for an unknown tool, an error of a relayed server, and for a `requestState` that does not hold. */
  async call(call: ClientCall): Promise<CallToolResult | InputRequiredResult> {
    return this.#asked.attend(call, (attended, ask) => this.#open(attended, ask));
  }

  async #open(call: ClientCall, ask: Elicit | undefined): Promise<CallToolResult | InputRequiredResult> {
    const { sessions, refusals } = this.#options;
    let held: Held | undefined;
    try {
      held = { session: await sessions.open(call.principal), isOpen: true };
      refusals.noteStrangers(held.session);
      return await this.#run(call, held, ask);
    } catch (thrown) {
      // The log cannot be opened or written.
      if (!isHoldfastError(thrown)) throw thrown;
      return errorResult(`Denied: ${describeThrown(thrown)}`, { kind: 'denied', code: thrown.code });
    } finally {
      if (held?.isOpen === true) await sessions.release(call.principal, false);
    }
  }

  async #run(call: ClientCall, held: Held, ask: Elicit | undefined): Promise<CallToolResult | InputRequiredResult> {
    const trace = readTraceContext(call.context.mcpReq._meta);
    const relay: Relay = {
      method: call.method,
      result: undefined,
      trace,
      client: (callId) => ({
        principal: call.principal,
        ask,
        note: (event) => noteEvent(event, callId, held.session),
      }),
    };
    if (!this.#recovered.has(held.session)) {
      this.#recovered.add(held.session);
      await recoverSession(this.#callOptions(call, held.session, { method: '', result: undefined }));
    }
    const state = call.context.mcpReq.requestState();
    if (state !== undefined) return this.#goOn(String(state), call, held, relay);
    if (call.tool === undefined && this.#listCallable().some(({ name }) => name === call.asked)) {
      // Our name for a tool of another server, which is served by its own name alone.
      this.#options.refusals.note(held.session, call.principal, 'tool-name', call.asked);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool \`${call.asked}\`.`);
    }
    const waiting = this.#findEqual(call, held.session);
    const answered = waiting?.approvals.at(-1);
    if (waiting !== undefined && answered?.answer !== undefined) {
      return this.#finish(await this.#resume(waiting.callId, call, held.session, relay), call, relay);
    }
    if (waiting !== undefined && !canElicit(call)) return this.#holdFor(waiting.callId, call, held, relay);
    // A client that asks again has lost its first question.
    if (waiting !== undefined) await this.#drop(waiting.callId, call, held.session);
    const fresh = newRequestState();
    const id = toCallId(fresh);
    relay.callId = id;
    if (trace !== undefined) held.session.record({ type: 'mcp-trace', callId: id, method: call.method, ...trace });
    const ended = await executeToolCall(
      { id, name: call.tool ?? call.asked, arguments: call.input },
      this.#callOptions(call, held.session, relay),
    );
    if (ended.kind !== 'suspended') return this.#finish(ended, call, relay);
    const [pending] = ended.pending;
    if (pending !== undefined && canElicit(call)) return askClient(pending, fresh);
    return this.#holdFor(id, call, held, relay);
  }

  /** A call that its client was asked about comes back. */
  async #goOn(
    state: string,
    call: ClientCall,
    held: Held,
    relay: Relay,
  ): Promise<CallToolResult | InputRequiredResult> {
    const id = toCallId(state);
    const open = held.session.openCall({ callId: id });
    const last = open?.approvals.at(-1);
    // Of this session, so of this principal and server; of this tool and these arguments; not used, not expired.
    const holds =
      open !== undefined &&
      last !== undefined &&
      open.start === undefined &&
      !this.#resuming.has(id) &&
      isEqualCall(open, call, held.session) &&
      this.#clock.now() < last.pending.expiresAtMs;
    if (!holds) {
      this.#options.refusals.note(held.session, call.principal, 'request-state', call.asked);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      });
    }
    this.#resuming.add(id);
    try {
      if (last.answer === undefined) {
        const answer = readClientAnswer(call.context.mcpReq.inputResponses);
        if (answer === undefined) return askClient(last.pending, state);
        await answerApproval(held.session, last.pending, { type: answer }, { by: 'mcp-client', clock: this.#clock });
      }
      const ended = await this.#resume(id, call, held.session, relay);
      const [again] = ended.kind === 'suspended' ? ended.pending : [];
      // The facts of the call have changed since the question.
      return again === undefined ? this.#finish(ended, call, relay) : askClient(again, state);
    } finally {
      this.#resuming.delete(id);
    }
  }

  /** The client cannot ask its user. A person may answer in another process. */
  async #holdFor(
    id: string,
    call: ClientCall,
    held: Held,
    relay: Relay,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { sessions, waitMs } = this.#options;
    const untilMs = this.#clock.now() + waitMs;
    let last: OpenApproval | undefined;
    for (;;) {
      last = held.session.openCall({ callId: id })?.approvals.at(-1);
      if (last?.answer !== undefined) {
        return this.#finish(await this.#resume(id, call, held.session, relay), call, relay);
      }
      if (this.#clock.now() >= untilMs || call.signal.aborted) break;
      held.isOpen = false;
      await sessions.release(call.principal, true);
      await new Promise<void>((resolve) => this.#clock.after(pollMs, resolve));
      held.session = await sessions.open(call.principal);
      held.isOpen = true;
    }
    const reasons = last?.pending.asks.map(({ reason = '' }) => reason).join(' ') ?? '';
    return errorResult(
      `Not run: a person has to approve this call in Holdfast first. ${reasons} Once they have, make the same call again.`,
      { kind: 'denied', code: 'approval.pending', callId: id },
    );
  }

  async #resume(id: string, call: ClientCall, session: Session, relay: Relay): Promise<Outcome | Suspended> {
    relay.callId = id;
    return resumeToolCall(id, this.#callOptions(call, session, relay));
  }

  async #drop(id: string, call: ClientCall, session: Session): Promise<void> {
    const options = this.#callOptions(call, session, { method: '', result: undefined });
    await resumeToolCall(id, { ...options, signal: AbortSignal.abort() });
  }

  /** A call that waits, or was answered a short time ago, with the tool and arguments of this one. */
  #findEqual(call: ClientCall, session: Session): OpenCall | undefined {
    return session.openWork().calls.find((open) => {
      const last = open.approvals.at(-1);
      if (last === undefined || open.start !== undefined || this.#resuming.has(open.callId)) return false;
      if (!isEqualCall(open, call, session)) return false;
      const now = this.#clock.now();
      return last.answeredAtMs === undefined ? now < last.pending.expiresAtMs : now - last.answeredAtMs < answerHoldsMs;
    });
  }

  #finish(ended: Outcome | Suspended, call: ClientCall, relay: Relay): CallToolResult {
    if (ended.kind === 'suspended') {
      return errorResult('Not run: what this call would do has changed since it was approved. Make it again.', {
        kind: 'denied',
        code: 'approval.mismatch',
      });
    }
    if (relay.error !== undefined && ended.kind === 'failed' && ended.code === 'mcp.error') throw relay.error;
    if (ended.kind === 'unknown-tool') throw new ProtocolError(ProtocolErrorCode.InvalidParams, ended.text);
    if (relay.result !== undefined && isPassedOn(ended)) return call.server.relay(relay.result) as CallToolResult;
    return toCallResult(
      ended,
      this.#source.tools.find(({ name }) => name === call.tool),
    );
  }

  /** One list as long as nothing changes, so that the executor prepares it once. */
  #listCallable(): readonly Tool[] {
    const { tools, withheld = [] } = this.#source;
    if (withheld.length === 0) return tools;
    if (this.#callable?.tools !== tools || this.#callable.withheld !== withheld) {
      this.#callable = { tools, withheld, all: Object.freeze([...tools, ...withheld]) };
    }
    return this.#callable.all;
  }

  #callOptions({ context, signal, tool, principal }: ClientCall, session: Session, relay: Relay): CallOptions {
    const {
      sessions: _sessions,
      waitMs: _waitMs,
      clock: _clock,
      refusals: _refusals,
      request: requestOf,
      resources,
      ...options
    } = this.#options;
    const { mcpReq } = context;
    const progressToken = mcpReq._meta?.progressToken;
    let progress = 0;
    const request = requestOf?.(principal);
    return {
      ...options,
      ...(request === undefined ? {} : { request }),
      tools: this.#source.held === undefined || tool === undefined ? this.#listCallable() : [toHeldTool(tool)],
      session,
      clock: this.#clock,
      signal,
      resources: { ...resources, [relayResource]: relay },
      ...(progressToken === undefined
        ? {}
        : {
            onEvent: (event) => {
              if (event.type !== 'tool-call-progress') return;
              progress += 1;
              const params = { progressToken, progress, message: event.message };
              // A client that has gone does not hear it; the call ends by its own signal.
              mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
            },
          }),
    };
  }
}
