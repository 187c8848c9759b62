import type {
  ApprovalAnswer,
  Decision,
  FactsSource,
  Json,
  JsonObject,
  Operation,
  Outcome,
  OutcomeKind,
  PendingApproval,
  PolicyContext,
  PolicyDecision,
  PreparedCall,
  ResourceTransaction,
  Slice,
  Tool,
  ToolCallEndEvent,
  ToolContext,
  ToolDeclaration,
} from '@holdfast/core';
import type { BoundPolicy, ChildSession, Problem, ThrownError, Touched, TraceEntry } from '@holdfast/core/types';
import type { CompiledSchema } from '@holdfast/schema';
import type { Session } from '@holdfast/session';
import type { Lifetime } from './execute.ts';
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

/** A policy's context without its own state. */
export type PolicySurroundings = Required<Omit<PolicyContext, 'state'>>;

/** A policy with its key and state. */
export interface PolicyInForce extends BoundPolicy {
  /** The slice with the policy's state, if it has any. */
  readonly slice: Slice | undefined;
  /** Converts an answer of `onResult` to changes of the slice. */
  toOperations(answer: unknown): readonly Operation[];
}

/** Shared by overlapping calls of one session, to detect stale decisions. */
export interface PolicyMoves {
  /** Grows when a commit may change what policies answer. */
  count: number;
  /** True once a policy has read the session: from then on any change of the session may change its answer. */
  looked: boolean;
  /** Resolves when the queue is empty. */
  turn: Promise<void>;
}

/** Policy changes, by call id, that count if the call or a nested call ends in doubt. */
export type Reservations = Map<string, readonly Json[]>;

/** The position of a run. Turns are counted from 1. */
export interface RunPosition {
  /** The number of log records before the run; unique within the session. */
  readonly startSeq: number;
  turn: number;
}

/** Per-call overrides of a tool's timeout and retries. Reuse one object for many calls: it is checked once. */
export interface CallManner {
  /** Time limit for one attempt, in milliseconds. The tool's `timeoutMs` covers all attempts. Default: only that. */
  readonly attemptTimeoutMs?: number;
  /**
   * How often the tool may run, including the first attempt, 1 to 1,001. Failures are retried; timeouts too if the tool is `repeat: 'safe'`
   * and has stopped. A tool that may not be repeated runs once. Default: as the tool declares.
   */
  readonly attempts?: number;
  /**
   * Delay after the attempt of that number, counted from 1, in milliseconds. Called for all attempts before the call begins.
   * Default: as the tool declares, else doubling from 1,000 to 60,000.
   */
  readonly delayMs?: (attempt: number) => number;
  /** The `context.trace` of the tool. */
  readonly trace?: (callId: string) => readonly TraceEntry[];
  /** Receives the end event of the call once it is logged. */
  readonly onEnd?: (event: ToolCallEndEvent) => void;
}

/** Validated overrides. */
export interface CheckedManner extends Omit<CallManner, 'delayMs'> {
  /** One per attempt except the last. */
  readonly delaysMs: readonly number[] | undefined;
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

/** The rarely used features of a call. A plain call skips each with one comparison. */
export interface CallFeatures {
  /** @throws HoldfastError `options.invalid`. */
  openFacts(source: FactsSource, session: Session): ScopeFacts;
  /** Called if a policy is asynchronous or approval is needed. */
  permit(first: Verdict | Promise<Verdict>, call: RunningCall): Promise<Permitted>;
  /** Allows the asks about a tool that was granted for the session. */
  waiveGranted(verdict: Verdict, call: PreparedCall, scope: CallScope): Verdict | Promise<Verdict>;
  /** Keeps the arguments of a direct call that is suspended or begins. */
  keepWaiting(call: IdentifiedCall, scope: CallScope): void;
  keepBegun(call: IdentifiedCall, scope: CallScope): void;
  /** The idempotency key of a call. */
  keyOf(call: RunningCall): string;
  /** Collects the policies' reservations for an external call, which count if it ends in doubt. */
  reserve(call: RunningCall): Ended | undefined;
  /** A call with reservations has begun. */
  joinReserved(call: RunningCall): void;
  /** The call has succeeded, or is recorded as failed with its reservations. */
  endReserved(call: RunningCall): void;
  recordReserved(call: CallRecord, ending: Ending): ToolCallEndEvent | undefined;
  openResources(call: RunningCall): CallResources;
  /** Settles a call that has resources. */
  settleStaged(answer: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  /** Ends a call that has begun but may not count. */
  refuse(ending: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  openNested(call: RunningCall): NestedWork;
  refuseNested(tool: Tool, parent: RunningCall): Ended | undefined;
  nestedLifetime(call: RunningCall): Lifetime;
  /** The tool's own reads and writes, frozen for policies. */
  ownTouched(call: RunningCall, touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched>;
  /** Settles a call whose tool may be retried. */
  retry(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent>;
  /** Lets a preparing tool report when it begins. */
  startLater(call: RunningCall, record: () => Promise<void> | undefined): LateStart;
  /** Opens the sections that a tool needs. `undefined`: none. */
  expand(invoked: Invoked, call: RunningCall): Promise<ToolCallEndEvent> | undefined;
  /** Other calls committed after the decision: decides again until it holds, then commits. */
  commitOvertaken(commit: () => ToolCallEndEvent | Ending, call: RunningCall): Promise<ToolCallEndEvent | Ending>;
  /** Records the late result of an abandoned tool. */
  recordLate(answer: Answer, call: RunningCall): void;
}

/** The start of a call whose tool prepares. */
export interface LateStart {
  begin(call: RunningCall): Promise<void>;
}
