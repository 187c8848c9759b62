import {
  HoldfastError,
  type Json,
  type Outcome,
  type PendingApproval,
  type Tool,
  type ToolDeclaration,
} from '@holdfast/core';
import {
  copyJson,
  isPlainObject,
  type RecordedOutcome,
  readOutcome,
  sha256,
  toCanonicalJson,
} from '@holdfast/core/internal';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  openCaller,
  pendingApprovals,
  resumeToolCall,
  type Suspended,
} from '@holdfast/executor';
import { askToolCall } from '@holdfast/executor/internal';
import { compileSchema } from '@holdfast/schema';
import type { Session } from '@holdfast/session';
import type { OpenCall } from '@holdfast/session/internal';
import { describeWaiting } from '../agents/agent.ts';
import { toKey } from '../decide/decisions.ts';
import { EndedCalls } from './ended-calls.ts';
import { type GovernOptions, toGoverned } from './run.ts';

/** Those of `executeToolCall`, but for what each call brings. */
export interface OwnToolOptions
  extends Omit<CallOptions, 'tools' | 'session' | 'approve' | 'unattended' | 'signal' | 'timeoutMs'>,
    Pick<GovernOptions, 'asks' | 'subAgentId'> {
  readonly session: Session;
}

/** Tools of Holdfast, as a list or by their names. */
export type OwnTools = readonly Tool[] | Readonly<Record<string, Tool>>;

/** A call as a framework tells it. */
export interface FrameworkCall {
  readonly id: string | undefined;
  readonly name: string;
  readonly input: unknown;
}

export interface OwnBody {
  readonly signal?: AbortSignal | undefined;
  /** The answer of the framework's person to a call that waits; `undefined`: not asked yet. */
  readonly answer?: (reason: string) => boolean | undefined;
}

export type OwnResult = Outcome | { readonly kind: 'waits'; readonly reason: string; readonly text: string };

/** Runs the calls of a framework through the executor. A call id runs once, in any process that has the session's log. */
export class OwnToolset {
  readonly declarations: readonly ToolDeclaration[];
  readonly #options: CallOptions & { readonly session: Session };
  readonly #asks: GovernOptions['asks'];
  readonly #subAgentId: string | undefined;
  readonly #ended: EndedCalls;

  /** @throws HoldfastError as `executeToolCall`. */
  constructor(given: OwnTools, { asks = 'framework', subAgentId, ...options }: OwnToolOptions) {
    const tools: readonly Tool[] = Object.values<Tool>(given);
    for (const [key, { name }] of Array.isArray(given) ? [] : Object.entries<Tool>(given)) {
      if (key === name) continue;
      const message = `The tool under \`${key}\` is named \`${name}\`; use its name as the key.`;
      throw new HoldfastError('tool.invalid', message, { data: { reason: 'name.invalid', name } });
    }
    this.#options = { ...options, tools };
    this.#asks = asks;
    this.#subAgentId = subAgentId;
    // Checks the configuration.
    openCaller(this.#options).dispose();
    this.#ended = EndedCalls.of(options.session);
    this.declarations = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema === undefined ? noArguments : compileSchema(inputSchema).jsonSchema,
    }));
  }

  /** Decides a call before the first of its message runs. Returns the question for the framework's person. */
  async ask(given: FrameworkCall): Promise<string | undefined> {
    const call = this.#read(given);
    const { callId, open, ended } = this.#find(call);
    if (ended !== undefined) return undefined;
    if (open !== undefined) {
      const last = open.approvals.at(-1);
      return this.#asks === 'framework' && open.start === undefined && last?.answer === undefined && last !== undefined
        ? reasonOf(last.pending)
        : undefined;
    }
    if (this.#asks === 'holdfast') return undefined;
    const asked = await askToolCall({ id: callId, name: call.name, arguments: call.input }, this.#options);
    return asked.kind === 'suspended' ? toWaiting(asked).reason : undefined;
  }

  /** Runs a call, or gives the first outcome of one that ran. */
  async run(given: FrameworkCall, body: OwnBody = {}): Promise<OwnResult> {
    const call = this.#read(given);
    // Equal calls may share a question for Holdfast: one after the other.
    const turn = this.#asks === 'holdfast' ? call.digest : this.#find(call).callId;
    const result = await this.#ended.inTurn(turn, () => this.#run(call, body));
    return result.kind === 'suspended' ? toWaiting(result) : result;
  }

  /** Records the answer of the framework's person to a call that waits; a no ends the call. */
  async answer(given: FrameworkCall, yes: boolean, reason?: string): Promise<void> {
    const { open } = this.#find(this.#read(given));
    if (open !== undefined) await this.#end(open.callId, yes, reason);
  }

  /** Ends the waiting calls of a tool that the framework's person refused; `isRefused` takes the framework's id. */
  async refuse(name: string, isRefused: (id: string) => boolean): Promise<void> {
    const prefix = toKey('', this.#subAgentId);
    for (const { callId, run, name: asked } of pendingApprovals(this.#options.session)) {
      if (run !== undefined || asked !== name || !callId.startsWith(prefix)) continue;
      if (isRefused(callId.slice(prefix.length).replace(/#\d+$/, ''))) await this.#end(callId, false);
    }
  }

  async #end(callId: string, yes: boolean, reason?: string): Promise<void> {
    await this.#answer(callId, yes, reason);
    if (!yes) await resumeToolCall(callId, this.#options);
  }

  async #answer(callId: string, yes: boolean, reason = 'a person said no'): Promise<void> {
    const { session, clock } = this.#options;
    const last = session.openCall({ callId })?.approvals.at(-1);
    // A person has answered it in Holdfast, meanwhile.
    if (last === undefined || last.answer !== undefined) return;
    const answer = yes ? ({ type: 'approve' } as const) : ({ type: 'deny', reason } as const);
    await answerApproval(session, callId, answer, { by: 'agent', ...(clock === undefined ? {} : { clock }) });
  }

  async #run(call: ReadCall, { signal, answer }: OwnBody): Promise<Outcome | Suspended> {
    const { callId, open = this.#findWaiting(call), ended } = this.#find(call);
    if (ended !== undefined) return ended;
    const options = { ...this.#options, ...(signal === undefined ? {} : { signal }) };
    const first =
      open === undefined
        ? await executeToolCall({ id: callId, name: call.name, arguments: call.input }, options)
        : await resumeToolCall(open.callId, options);
    if (first.kind !== 'suspended' || this.#asks === 'holdfast') return first;
    const yes = answer?.(toWaiting(first).reason);
    if (yes === undefined) return first;
    const waiting = open?.callId ?? callId;
    await this.#answer(waiting, yes);
    return await resumeToolCall(waiting, options);
  }

  #read({ id: given, name, input }: FrameworkCall): ReadCall {
    const { id } = toGoverned('holdfast', { id: given, name, input: {} }, {});
    const copied = copyJson(input ?? {});
    const read = copied.ok ? copied.value : String(input);
    return { key: toKey(id, this.#subAgentId), name, input: read, digest: digestOf(name, read) };
  }

  /** The call of this id; another one under the same id gets a number. */
  #find(call: ReadCall): { readonly callId: string; readonly open?: OpenCall; readonly ended?: Outcome } {
    const { session } = this.#options;
    for (let count = 1; ; count += 1) {
      const callId = count === 1 ? call.key : `${call.key}#${count}`;
      const open = session.openCall({ callId });
      if (open !== undefined) {
        if (this.#isSame(call, open.name, open.rawArguments)) return { callId, open };
        continue;
      }
      const ended = this.#ended.find(callId);
      if (ended === undefined) return { callId };
      const { name, rawArguments, outcome } = ended;
      if (this.#isSame(call, String(name), rawArguments) && isPlainObject(outcome))
        return { callId, ended: readOutcome(outcome as unknown as RecordedOutcome) };
    }
  }

  /** In a log that masks arguments, the id and the tool are all there is to compare. */
  #isSame(call: ReadCall, name: string, rawArguments: Json | undefined): boolean {
    const { content, redactor } = this.#options.session;
    if (content === 'none' || redactor !== undefined) return name === call.name;
    return digestOf(name, rawArguments ?? null) === call.digest;
  }

  /** An equal call whose question a person in Holdfast has answered, or has to. */
  #findWaiting({ digest }: ReadCall): OpenCall | undefined {
    const isWaiting = ({ callId, run, start, approvals }: OpenCall): boolean =>
      run === undefined &&
      start === undefined &&
      approvals.length > 0 &&
      (this.#asks === 'holdfast' || (approvals.at(-1)?.answer !== undefined && !this.#ended.isRunning(callId)));
    return this.#options.session
      .openWork()
      .calls.find((open) => isWaiting(open) && digestOf(open.name, open.rawArguments ?? null) === digest);
  }
}

interface ReadCall {
  readonly key: string;
  readonly name: string;
  readonly input: Json;
  readonly digest: string;
}

const noArguments = { type: 'object', properties: {}, additionalProperties: false } as const;

function digestOf(name: string, input: Json): string {
  return sha256(toCanonicalJson({ name, input }));
}

function toWaiting({ pending }: Suspended): Extract<OwnResult, { kind: 'waits' }> {
  const reason = pending.map(reasonOf).join(' ');
  return { kind: 'waits', reason, text: describeWaiting(reason) };
}

function reasonOf({ asks }: PendingApproval): string {
  return asks.map(({ reason = '' }) => reason).join(' ');
}
