/** The answer of a policy. */
export type Decision = Allow | Ask | Deny;

/** No objection to the call. Created by `allow`. */
export interface Allow {
  readonly type: 'allow';
  /** The decision of a policy in observe mode. Recorded without effect. */
  readonly observed?: Ask | Deny;
}

/** A person must decide. Created by `ask`. */
export interface Ask {
  readonly type: 'ask';
  /** Why a person must decide; shown to them. */
  readonly reason: string;
  /** `false`: only an approval of this call counts, not a grant of the host or for the session. */
  readonly grantable?: false;
}

export interface AskOptions {
  /** True if a grant of the host or for the session answers the ask. Default true. */
  readonly grantable?: boolean;
}

/** The call must not run. Created by `deny`. Beats `ask`, which beats `allow`. */
export interface Deny {
  readonly type: 'deny';
  /** Why not; sent to the model. */
  readonly reason: string;
  /** The outcome's code, for hosts that distinguish denials. Default `policy.denied`. */
  readonly code?: string;
}

export interface DenyOptions {
  /** Dotted lower-case words: `guard.self`. */
  readonly code?: string;
}

/** No objection to the call. */
export const allow: Allow = Object.freeze({ type: 'allow' });

/** Requires a person's approval. `reason` is shown to them. */
export function ask(reason: string, { grantable = true }: AskOptions = {}): Ask {
  return Object.freeze({ type: 'ask', reason, ...(grantable ? {} : { grantable: false }) });
}

/** Denies the call. `reason` is sent to the model. */
export function deny(reason: string, { code }: DenyOptions = {}): Deny {
  return Object.freeze({ type: 'deny', reason, ...(code === undefined ? {} : { code }) });
}

/** A decision with the key of its policy. */
export interface PolicyDecision {
  /** `<section path | prompt | host>/<name>`, or `holdfast/...` for decisions of the runtime. */
  readonly policy: string;
  readonly type: Decision['type'];
  readonly reason?: string;
  /** Set for a denial with its own code. */
  readonly code?: string;
  /** Set for an ask that no grant answers. */
  readonly grantable?: false;
  /** Set for an allow in observe mode: the decision the policy would have made, for `reason`. */
  readonly observed?: 'ask' | 'deny';
}
