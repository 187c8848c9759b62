import type {
  ApprovalAnswer,
  Decision,
  FactsSource,
  Json,
  JsonObject,
  Outcome,
  OutcomeKind,
  PendingApproval,
  Policy,
  PolicyDecision,
  PreparedCall,
  ResourceDefinition,
  ResourceTransaction,
  Tool,
  ToolCallEndEvent,
  ToolContext,
  ToolDeclaration,
} from '@holdfast/core';
import type { ChildSession, Problem, RenderedPrompt, ThrownError, Touched } from '@holdfast/core/types';
import type { CompiledSchema } from '@holdfast/schema';
import type { Session } from '@holdfast/session';
import type { CallTime, Lifetime, LifetimeOptions } from './execute.ts';
import type { PolicyBinding, ToolNames } from './policies.ts';
import type { ScopeFacts } from './prepare.ts';
import type { CallRecord, RunningCall } from './running-call.ts';
import type { CallScope } from './scope.ts';

/** A call with an id and frozen arguments. */
export interface IdentifiedCall {
  readonly id: string;
  readonly name: string;
  /** The raw text, or frozen JSON; null for anything else. */
  readonly arguments: Json;
  /** Why the arguments are unusable. */
  readonly problem: Problem | undefined;
}

/** A tool with everything derived from it. */
export interface CompiledTool {
  readonly tool: Tool;
  /** `undefined` if the tool takes no arguments. */
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  /** The tool as offered to a model. */
  readonly declaration: ToolDeclaration;
  /** A schema was loaded without its code, so no call can be checked. */
  readonly missing: Problem | undefined;
}

/** Tools by name. `missing` is that of the first tool with one. */
export interface CompiledTools {
  readonly byName: ReadonlyMap<string, CompiledTool>;
  /** The position of each tool in the list. */
  readonly places: ReadonlyMap<string, number>;
  readonly declarations: readonly ToolDeclaration[];
  readonly missing: Problem | undefined;
}

/** A call whose tool was found and whose arguments are valid. */
export interface Prepared {
  readonly type: 'prepared';
  readonly call: PreparedCall;
  /** The input as JSON, before any transform of the schema. */
  readonly recorded: JsonObject;
  readonly compiled: CompiledTool;
}

/** The result of a call before it is recorded. */
export interface Ending {
  readonly kind: OutcomeKind;
  readonly code: string | undefined;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly value: Json;
  readonly rendered: string;
  /** Not truncated. */
  readonly text: string;
  /** Of a success: the text does not contain the value. `rendered` is then the tool's own text. */
  readonly excluded?: boolean;
  readonly ownRendering?: boolean;
  /** For observers and the log. */
  readonly error?: ThrownError | undefined;
  readonly abandoned?: boolean;
}

export interface Ended {
  readonly type: 'ended';
  readonly ending: Ending;
}

/** The combined decision of the policies in force and the dangerous gate. */
export interface Verdict {
  /** Deny beats ask beats allow. */
  readonly type: Decision['type'];
  /** One per policy, in order. */
  readonly decisions: readonly PolicyDecision[];
}

/** The decision about a call before it begins. */
export type Permitted =
  | { readonly type: 'permitted' }
  | { readonly type: 'suspended'; readonly pending: PendingApproval }
  | Ended;

/** A call that waits for approval. Nothing has run. */
export interface Suspended {
  readonly kind: 'suspended';
  readonly pending: readonly PendingApproval[];
}

/** The results of the calls of one model message. */
export interface TurnResult {
  /** In call order, up to where the turn got, plus later calls that had ended before. */
  readonly outcomes: readonly Outcome[];
  /** If not empty, the turn is suspended at the first of these and nothing after it has run. */
  readonly pending: readonly PendingApproval[];
}

/** Known results and refusals of a turn. */
export interface TurnOptions {
  /** Ends every call before its first stage. */
  readonly refusal?: ((call: IdentifiedCall) => Ending | undefined) | undefined;
  /** Outcomes of calls that ended before the turn was resumed, by position. */
  readonly settled?: ReadonlyMap<number, Outcome> | undefined;
}

/** The return value or error of a tool. */
export type Answer =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown };

/** The result of running a tool's own code. */
export type Invoked =
  | Answer
  | {
      readonly type: 'stopped';
      readonly by: StopReason;
      /** The limit that was reached, in milliseconds; `undefined` if the run ended. */
      readonly limitMs: number | undefined;
      /** The tool was told to stop and did not: anything it still does or returns is dropped. */
      readonly abandoned: boolean;
      /** True if it has stopped since. */
      hasStopped(): boolean;
    };

/** The host's answer to an approval. `later` suspends the call as if `approve` were missing, and denies a nested call. */
export type HostAnswer = ApprovalAnswer | { readonly type: 'later' };

/** Answers an approval. An error or any other value denies. */
export type Approve = (pending: PendingApproval) => HostAnswer | Promise<HostAnswer>;

/** Why the time of a run or a direct call is over. */
export type EndOfLife = 'deadline' | 'aborted' | 'budget';

/** Why a call must stop: one attempt or all of them took too long, or its run is over. */
export type StopReason = 'attempt' | 'timeout' | EndOfLife;

/** Policy changes, by call id, that count if the call or a nested call ends in doubt. */
export type Reservations = Map<string, readonly Json[]>;

/** The position of a run. Turns are counted from 1. */
export interface RunPosition {
  /** The number of log records before the run; unique within the session. */
  readonly startSeq: number;
  turn: number;
}

/** The resources of a call: its staged changes and its own instances. */
export interface CallResources {
  /** By name, as the tool gets them. @throws the error of a resource that cannot begin. */
  readonly views: ReadonlyMap<string, unknown>;
  readonly staged: ReadonlyMap<string, ResourceTransaction>;
  /** True if ending the call takes more than discarding the session's changes. */
  readonly holds: boolean;
  use: ToolContext['use'];
  /** Closes the resources to the tool. Returns the error of a part that threw. */
  seal(): { readonly thrown: unknown } | undefined;
}

/** A successful nested call, which counts if the outer call does. */
export interface NestedDecision {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string> | undefined;
  /** Its own nested calls, in order. */
  readonly nested: readonly NestedDecision[];
  /** The policies' changes for its success. */
  readonly changes: readonly Json[];
}

/** The nested work of a call. */
export interface NestedWork {
  /** True if the call has made calls or runs of its own. */
  readonly any: boolean;
  /** Nested calls that count with it. */
  readonly decisions: readonly NestedDecision[];
  call(name: string, input: unknown): Promise<Outcome>;
  openChild(): ChildSession;
  /** Called when a nested call has committed into this one. */
  note(nested: RunningCall, changes: readonly Json[], touched: ReadonlyMap<string, Touched>): void;
  /** The call's own changes, without those of nested calls. */
  own(touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched>;
  /** For the next attempt at the same call; numbering continues. */
  again(call: RunningCall): NestedWork;
}

/** Support for resumed calls, provided by the resuming runners. */
export interface Resuming {
  /** Notes on `call` if its tool began before the process ended. */
  note(call: CallRecord): void;
  /** Turns the unsuccessful ending of a call that began before into doubt: it may have taken effect then. `again`: the tool ran again. */
  doubt(ending: Ending, call: CallRecord, again: boolean): Ending;
}

/** The nested calls of one call, in order; read-only calls run in parallel. */
export interface NestedCalls {
  call(id: string, name: string, input: unknown): Promise<Outcome>;
}

/** The rarely used features of a call. A plain call skips each with one comparison. */
export interface CallFeatures {
  /** @throws HoldfastError `options.invalid`. */
  openFacts(source: FactsSource, session: Session): ScopeFacts;
  /** @throws HoldfastError `options.invalid`, `policy.invalid`. */
  bindPolicies(policies: readonly Policy[], names: ToolNames): readonly PolicyBinding[];
  /** A copy of a run's scope with the tools and policies of a page. */
  bindPage(scope: CallScope, page: RenderedPrompt): CallScope;
  /** Runs every policy in force and the dangerous gate; synchronous if every policy is. */
  authorize(call: PreparedCall, scope: CallScope, approved?: ReadonlySet<string>): Verdict | Promise<Verdict>;
  /** Called if a policy is asynchronous or approval is needed. */
  permit(first: Verdict | Promise<Verdict>, call: RunningCall): Promise<Permitted>;
  /** Allows the asks about a tool that was granted for the session. */
  waiveGranted(verdict: Verdict, call: PreparedCall, scope: CallScope): Verdict | Promise<Verdict>;
  /** Keeps the arguments of a direct call that is suspended or begins. */
  keepWaiting(call: IdentifiedCall, scope: CallScope): void;
  keepBegun(call: IdentifiedCall, scope: CallScope): void;
  /** The idempotency key of a call. */
  keyOf(call: RunningCall): string;
  /** Collects the policies' reservations, which count if the call ends in doubt, or fails under a policy that counts failures. */
  reserve(call: RunningCall): Ended | undefined;
  /** A call with reservations has begun. */
  joinReserved(call: RunningCall): void;
  /** The call has succeeded, or is recorded as failed with its reservations. */
  endReserved(call: RunningCall): void;
  recordReserved(call: CallRecord, ending: Ending): ToolCallEndEvent | undefined;
  openResources(call: RunningCall): CallResources;
  /** The instance of a declared resource for a tool. */
  use<Value>(resource: ResourceDefinition<Value>, call: RunningCall): Promise<Value>;
  /** Completes or rolls back what an ended process left staged. `undefined`: nothing to do. */
  recoverResources(scope: CallScope): Promise<unknown> | undefined;
  settleStaged(answer: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  /** Ends a call that has begun but may not count. */
  refuse(ending: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  openNested(call: RunningCall): NestedWork;
  openCalls(parent: RunningCall): NestedCalls;
  /** The resources of calls and runs nested in `parent`. */
  nestedResources(parent: RunningCall): ReadonlyMap<string, unknown>;
  refuseNested(tool: Tool, parent: RunningCall): Ended | undefined;
  nestedLifetime(call: RunningCall): Lifetime;
  /** Stages the policies' states after a success. `touched`: of the call in resources, if anything. */
  updatePolicies(ending: Ending, call: RunningCall, touched: ReadonlyMap<string, Touched> | undefined): void;
  /** Settles a call whose tool may be retried. */
  retry(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent>;
  /** Lets a preparing tool report when it begins. */
  startLater(call: RunningCall, record: () => Promise<void> | undefined): LateStart;
  /** Opens the sections that a tool needs. `undefined`: none. */
  expand(invoked: Invoked, call: RunningCall): Promise<ToolCallEndEvent> | undefined;
  /** Other calls committed after the decision: decides again until it holds, then commits. */
  commitOvertaken(commit: () => ToolCallEndEvent | Ending, call: RunningCall): Promise<ToolCallEndEvent | Ending>;
  runCalls(calls: readonly IdentifiedCall[], scope: CallScope, options: TurnOptions): Promise<TurnResult>;
  limitLifetime(options: LifetimeOptions): Lifetime;
  limitTime(tool: Tool, scope: CallScope): CallTime | undefined;
  /** Waits for a tool until its time is over, even if it never settles. */
  waitInTime(value: PromiseLike<unknown>, call: RunningCall): Promise<Invoked>;
  /** Records the late result of an abandoned tool. */
  recordLate(answer: Answer, call: RunningCall): void;
  /** Takes over `others`, with which work nested in a call was started. */
  join(others: CallFeatures): void;
}

/** The start of a call whose tool prepares. */
export interface LateStart {
  begin(call: RunningCall): Promise<void>;
}
