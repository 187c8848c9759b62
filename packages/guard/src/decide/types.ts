import type { Clock, FactsSource, Json, Outcome, PendingApproval, Policy } from '@holdfast/core';
import type { Session } from '@holdfast/session';

export interface GuardOptions {
  /** One for each session of the agent; sub-agents share it. */
  readonly session: Session;
  readonly policies: readonly Policy[];
  /** Describes the calls; each call brings its own folder. Without it, policies see only names and inputs. */
  readonly facts?: FactsSource;
  /** How long a question waits for an answer, in milliseconds. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
  /** How long a yes to a call holds for its second try, in milliseconds. Default 10 minutes. */
  readonly answerHoldsMs?: number;
  readonly clock?: Clock;
}

/** A call that an agent is about to make. */
export interface GuardedCall {
  /** The agent's id of the call. Absent: equal calls are told apart by their order. */
  readonly id?: string;
  readonly subAgentId?: string;
  /** As the agent names the tool. */
  readonly name: string;
  readonly input: Json;
  /** Where the call runs, absolute. */
  readonly cwd?: string;
  /** The top folder of the worktree that `cwd` is in. Default: the workspace of `facts`. */
  readonly workspace?: string;
  readonly agent?: string;
  /** The agent's permission mode, for the record. */
  readonly mode?: string;
  /** The agent asks its own person when the verdict is `ask`, for certain. A report of the call then counts as a yes of that person. */
  readonly agentAsks?: boolean;
}

export type GuardVerdict =
  | { readonly type: 'allow' }
  | { readonly type: 'deny'; readonly reason: string; readonly code: string }
  | { readonly type: 'ask'; readonly reason: string; readonly pending: PendingApproval };

/** `ended`: the call was released earlier, and this is how it ended; it must not run again. */
export type GuardRelease = GuardVerdict | { readonly type: 'ended'; readonly ending: GuardEnding };

export interface GuardEnding {
  readonly kind: Outcome['kind'];
  readonly code?: string;
  readonly message: string;
  /** As reported. */
  readonly value: Json;
}

/** How a call went. `ok: 'unknown'`: the agent does not say; `'not-run'`: it did not begin. */
export interface GuardReport {
  readonly ok: boolean | 'unknown' | 'not-run';
  readonly value?: Json;
  readonly message?: string;
  /** The input that ran. Another than the one that was decided pays into no policy. */
  readonly input?: Json;
}

/** The tool and place of a call. */
export type Placed = Pick<GuardedCall, 'name' | 'cwd' | 'workspace'>;

/** A call as it was told to `before`: its id, or for a call without one its name and input. */
export type GuardedCallName = Pick<GuardedCall, 'id' | 'subAgentId' | 'name' | 'input'>;

/** Decides and records calls whose body runs elsewhere. */
export interface Guard {
  /** Decides a call. The same call gets the same answer. Never rejects: an error becomes a denial, code `guard.failed`. */
  before(call: GuardedCall): Promise<GuardVerdict>;
  /** Reports how an allowed call went. `undefined`: the call is unknown or has already ended. */
  after(call: GuardedCallName, report: GuardReport): Promise<Outcome | undefined>;
  /** Call when the user sends a prompt: calls without a report end in doubt, code `guard.unreported`. */
  prompt(request: string): Promise<readonly Outcome[]>;
  /** Call when the agent's session ends; unreported calls end as for `prompt`. */
  end(): Promise<readonly Outcome[]>;
}

/** A guard for hosts that start the bodies themselves. */
export interface ReleasingGuard extends Guard {
  /**
   * Decides a call right before its body, for a host that starts the body itself: `allow` comes once for each call, in any process. A
   * question that was handed to the agent's own person counts as answered with yes, since the agent now runs the call. Never rejects.
   */
  release(call: GuardedCall & { readonly id: string }): Promise<GuardRelease>;
  /**
   * The agent's own person said no to a call that was handed to them: its question is answered with no, and the call ends as denied.
   * `undefined`: no such question is open.
   */
  refuse(call: GuardedCallName & { readonly id: string }, reason?: string): Promise<Outcome | undefined>;
  /** The ids of the calls of a tool whose question was handed to the agent's own person and is open. */
  asked(tool: Pick<GuardedCall, 'name' | 'subAgentId'>): readonly string[];
}
