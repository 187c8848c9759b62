import type {
  ApprovalAnswer,
  BoundPolicy,
  ChildSession,
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
  Problem,
  ResourceTransaction,
  Slice,
  ThrownError,
  Tool,
  ToolCallEndEvent,
  ToolContext,
  ToolDeclaration,
  Touched,
  TraceEntry,
} from '@holdfast/core';
import type { CompiledSchema } from '@holdfast/schema';
import type { Session } from '@holdfast/session';
import type { Lifetime } from './execute.ts';
import type { ScopeFacts } from './prepare.ts';
import type { CallRecord, RunningCall } from './running-call.ts';
import type { CallScope } from './scope.ts';

/** A call with an id, whose arguments nobody can change any more. */
export interface IdentifiedCall {
  readonly id: string;
  readonly name: string;
  /** The text as it came, or frozen JSON; null for what is neither. */
  readonly arguments: Json;
  /** Why the arguments cannot be taken. */
  readonly problem: Problem | undefined;
}

/** A tool with everything that is derived from it, derived once. */
export interface CompiledTool {
  readonly tool: Tool;
  /** `undefined`: the tool takes no arguments. */
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  /** What a model is offered. */
  readonly declaration: ToolDeclaration;
  /** A schema came without its code: no call can be checked. */
  readonly missing: Problem | undefined;
}

/** Tools by name. `missing` is that of the first tool that has one. */
export interface CompiledTools {
  readonly byName: ReadonlyMap<string, CompiledTool>;
  /** Where each stands in the list. */
  readonly places: ReadonlyMap<string, number>;
  readonly declarations: readonly ToolDeclaration[];
  readonly missing: Problem | undefined;
}

/** A call that has been looked up and parsed. */
export interface Prepared {
  readonly type: 'prepared';
  readonly call: PreparedCall;
  /** The input as JSON: as it was before the schema made something else of it. */
  readonly recorded: JsonObject;
  readonly compiled: CompiledTool;
}

/** How a call ends, before it is written down. */
export interface Ending {
  readonly kind: OutcomeKind;
  readonly code: string | undefined;
  readonly message: string;
  readonly value: Json;
  readonly rendered: string;
  /** Whole. */
  readonly text: string;
  /** Of a success: the value is not in the text; and the tool itself has made `rendered` of it. */
  readonly excluded?: boolean;
  readonly ownRendering?: boolean;
  /** For observers and the log. */
  readonly error?: ThrownError;
  readonly abandoned?: boolean;
}

export interface Ended {
  readonly type: 'ended';
  readonly ending: Ending;
}

/** What the policies in force and the dangerous gate say, all of it. */
export interface Verdict {
  /** Deny beats ask beats allow. */
  readonly type: Decision['type'];
  /** Of every policy that was asked, in order. */
  readonly decisions: readonly PolicyDecision[];
}

/** What is decided about a call before it begins. */
export type Permitted =
  | { readonly type: 'permitted' }
  | { readonly type: 'suspended'; readonly pending: PendingApproval }
  | Ended;

/** A call that could not be decided without a person: nothing has run. */
export interface Suspended {
  readonly kind: 'suspended';
  readonly pending: readonly PendingApproval[];
}

/** What a tool itself came to. */
export type Answer =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown };

/** What came of running a tool's own code. */
export type Invoked =
  | Answer
  | {
      readonly type: 'stopped';
      readonly by: StopReason;
      /** The limit that was reached, in milliseconds; `undefined` where somebody else ended its time. */
      readonly limitMs: number | undefined;
      /** It was told to stop and has not: whatever it still does or answers is dropped. */
      readonly abandoned: boolean;
      /** Whether it has stopped by now. */
      hasStopped(): boolean;
    };

/** What a host answers when it is asked: `later` suspends, as if there were nobody to ask; a nested call it denies. */
export type HostAnswer = ApprovalAnswer | { readonly type: 'later' };

/** How a host answers an ask. Throwing, or answering anything else, denies. */
export type Approve = (pending: PendingApproval) => HostAnswer | Promise<HostAnswer>;

/** Why the time of a run or of a direct call is over. */
export type EndOfLife = 'deadline' | 'aborted' | 'budget';

/** Why a call is told to stop: one attempt, or all of them, took too long, or its run is over. */
export type StopReason = 'attempt' | 'timeout' | EndOfLife;

/** What every policy of one call sees beside its own state. */
export type PolicySurroundings = Required<Omit<PolicyContext, 'state'>>;

/** A policy where it is in force. */
export interface PolicyInForce extends BoundPolicy {
  /** Holds the policy's state; `undefined` when it keeps none. */
  readonly slice: Slice | undefined;
  /** What an answer of its `onResult` does to the slice. */
  toOperations(answer: unknown): readonly Operation[];
}

/** What overlapping calls of one session need to know of each other. */
export interface PolicyMoves {
  /** Grows when policies may answer otherwise than before, as a call counts. */
  count: number;
  /** Whether a policy has ever read the session: from then on whatever changes the session may change what it answers. */
  looked: boolean;
  /** Resolves when nobody is before who comes next. */
  turn: Promise<void>;
}

/** Changes of policies' states that count unless what was done is counted itself: by the id of the call, and of those nested in it. */
export type Reservations = Map<string, readonly Json[]>;

/** Where a run is. Turns are counted from 1. */
export interface RunPosition {
  /** Records that its session's log had before it: no other run of the session has the same. */
  readonly startSeq: number;
  turn: number;
}

/** How calls are made, beyond what their tools declare. What is the same for many calls is looked at once when it is one object. */
export interface CallManner {
  /**
   * Longest that one attempt may take, in milliseconds. The tool's own `timeoutMs` holds for all of them. Default: only that.
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How often the tool may be run, the first included, 1 to 1,001: where it fails, and where it may be repeated `safe`ly also where the
   * time of an attempt is over and it has stopped before the next. A tool that may not be repeated is run once. Default: as the tool declares.
   */
  readonly attempts?: number;
  /**
   * What is waited after the attempt of that number, counted from 1, in milliseconds. Asked before the call begins, for all attempts.
   * Default: as the tool declares, else doubling from 1,000 to 60,000.
   */
  readonly delayMs?: (attempt: number) => number;
  /** What the tool of the call sees as `context.trace`. */
  readonly trace?: (callId: string) => readonly TraceEntry[];
  /** Gets the one end event of the call, once the log has it. */
  readonly onEnd?: (event: ToolCallEndEvent) => void;
}

/** A manner that has been checked. */
export interface CheckedManner extends Omit<CallManner, 'delayMs'> {
  /** After each attempt but the last. */
  readonly delaysMs: readonly number[] | undefined;
}

/** A call's parts in resources: what it has staged there, and what was made for it. */
export interface CallResources {
  /** By name, as the tool gets them. @throws what a resource throws when it begins. */
  readonly views: ReadonlyMap<string, unknown>;
  readonly staged: ReadonlyMap<string, ResourceTransaction>;
  /** Whether ending the call takes more than dropping what the session has staged. */
  readonly holds: boolean;
  use: ToolContext['use'];
  /** Ends what the tool can do. Answers with what a part threw. */
  seal(): { readonly thrown: unknown } | undefined;
}

/** A nested call that was allowed and has succeeded, and counts when the call around it does. */
export interface NestedDecision {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string> | undefined;
  /** Those nested in it, in order. */
  readonly nested: readonly NestedDecision[];
  /** What the policies have made of its own success. */
  readonly changes: readonly Json[];
}

/** What is nested in a call, as far as the call has to know. */
export interface NestedWork {
  /** Whether the call has made calls or runs of its own. */
  readonly any: boolean;
  /** Of calls that count with it. */
  readonly decisions: readonly NestedDecision[];
  call(name: string, input: unknown): Promise<Outcome>;
  openChild(): ChildSession;
  /** A nested call has committed into this one. */
  note(nested: RunningCall, changes: readonly Json[], touched: ReadonlyMap<string, Touched>): void;
  /** What the call has done itself, on top of what nested calls left. */
  own(touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched>;
  /** For the next attempt at the same call: names are counted on. */
  again(call: RunningCall): NestedWork;
}

/** What is known of a call that is resumed. Brought by the runners that resume. */
export interface Resuming {
  /** Notes on `call` whether its tool was begun before the process ended. */
  note(call: CallRecord): void;
  /** Whatever ends a call that was begun before but a success: it may have taken effect then. `again`: it has been run again. */
  doubt(ending: Ending, call: CallRecord, again: boolean): Ending;
}

/** What rare calls need of other rooms. A plain call passes each by with one comparison. */
export interface CallFeatures {
  /** @throws HoldfastError `options.invalid`. */
  openFacts(source: FactsSource, session: Session): ScopeFacts;
  /** A policy needs time, or a person has to be asked. */
  permit(first: Verdict | Promise<Verdict>, call: RunningCall): Promise<Permitted>;
  /** Waives the asks about a tool that was granted for the session. */
  waiveGranted(verdict: Verdict, call: PreparedCall, scope: CallScope): Verdict | Promise<Verdict>;
  /** Keeps the arguments of a direct call that waits, or begins. */
  keepWaiting(call: IdentifiedCall, scope: CallScope): void;
  keepBegun(call: IdentifiedCall, scope: CallScope): void;
  /** What the world knows the call by. */
  keyOf(call: RunningCall): string;
  /** Asks the policies what is to be kept of an external call should it not be known whether it took effect. */
  reserve(call: RunningCall): Ended | undefined;
  /** A call with reservations has begun. */
  joinReserved(call: RunningCall): void;
  /** It has succeeded; or has not, and is recorded with what may have happened nevertheless. */
  endReserved(call: RunningCall): void;
  recordReserved(call: CallRecord, ending: Ending): ToolCallEndEvent | undefined;
  openResources(call: RunningCall): CallResources;
  /** Ends a call that has resources, with success or without. */
  settleStaged(answer: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  /** Ends an entered call that may not count. */
  refuse(ending: Ending, call: RunningCall): Promise<ToolCallEndEvent>;
  openNested(call: RunningCall): NestedWork;
  refuseNested(tool: Tool, parent: RunningCall): Ended | undefined;
  nestedLifetime(call: RunningCall): Lifetime;
  /** What policies are told of: what the tool did itself. Nobody can change it. */
  ownTouched(call: RunningCall, touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched>;
  /** Ends a call whose tool may be run again where it failed. */
  retry(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent>;
  /** Lets a tool that prepares say itself when it begins. */
  startLater(call: RunningCall, record: () => Promise<void> | undefined): LateStart;
  /** Opens the sections that a tool needs. `undefined`: it needs none. */
  expand(invoked: Invoked, call: RunningCall): Promise<ToolCallEndEvent> | undefined;
  /** Others have counted since the call was decided: decides again until it holds, and commits. */
  commitOvertaken(commit: () => ToolCallEndEvent | Ending, call: RunningCall): Promise<ToolCallEndEvent | Ending>;
  /** Writes down what an abandoned tool came to. */
  recordLate(answer: Answer, call: RunningCall): void;
}

/** The start of a call whose tool prepares. */
export interface LateStart {
  begin(call: RunningCall): Promise<void>;
}
