/** What a policy answers. */
export type Decision = Allow | Ask | Deny;

/** Nothing against the call. Made by `allow`. */
export interface Allow {
  readonly type: 'allow';
  /** What a policy that is only being tried out would have answered. It is noted and changes nothing. */
  readonly observed?: Ask | Deny;
}

/** A person has to decide: made by `ask`. */
export interface Ask {
  readonly type: 'ask';
  /** Why a person has to decide; shown to them. */
  readonly reason: string;
  /** `false`: only a yes to this very call answers it. Neither a grant of the host nor one for the session does. */
  readonly grantable?: false;
}

export interface AskOptions {
  /** Whether a grant of the tool, the host's or one for the session, answers the ask. Default true. */
  readonly grantable?: boolean;
}

/** The call must not run: made by `deny`. Beats `ask`, which beats `allow`. */
export interface Deny {
  readonly type: 'deny';
  /** Why not; goes back to the model. */
  readonly reason: string;
  /** Of the outcome, for hosts that tell denials apart. Default `policy.denied`. */
  readonly code?: string;
}

export interface DenyOptions {
  /** Dotted lower-case words: `guard.self`. */
  readonly code?: string;
}

/** The policy has nothing against the call. */
export const allow: Allow = Object.freeze({ type: 'allow' });

/** The call needs a person's approval. `reason` is shown to them. */
export function ask(reason: string, { grantable = true }: AskOptions = {}): Ask {
  return Object.freeze({ type: 'ask', reason, ...(grantable ? {} : { grantable: false }) });
}

/** The call must not run. `reason` goes back to the model. */
export function deny(reason: string, { code }: DenyOptions = {}): Deny {
  return Object.freeze({ type: 'deny', reason, ...(code === undefined ? {} : { code }) });
}

/** A decision with the key of the policy that took it. */
export interface PolicyDecision {
  /** `<section path | prompt | host>/<name>`, or `holdfast/...` for what the runtime itself decides. */
  readonly policy: string;
  readonly type: Decision['type'];
  readonly reason?: string;
  /** Of a denial that has one of its own. */
  readonly code?: string;
  /** Of an ask that no grant answers. */
  readonly grantable?: false;
  /** Of an allow of a policy that is only being tried out: what it would have answered, for `reason`. */
  readonly observed?: 'ask' | 'deny';
}
