/** What a policy answers. */
export type Decision = Allow | Ask | Deny;

export interface Allow {
  readonly type: 'allow';
}

export interface Ask {
  readonly type: 'ask';
  /** Why a person has to decide; shown to them. */
  readonly reason: string;
}

export interface Deny {
  readonly type: 'deny';
  /** Why not; goes back to the model. */
  readonly reason: string;
}

/** The policy has nothing against the call. */
export const allow: Allow = Object.freeze({ type: 'allow' });

/** The call needs a person's approval. */
export function ask(reason: string): Ask {
  return Object.freeze({ type: 'ask', reason });
}

/** The call must not run. */
export function deny(reason: string): Deny {
  return Object.freeze({ type: 'deny', reason });
}

/** A decision with the key of the policy that took it. */
export interface PolicyDecision {
  /** `<section path | prompt | host>/<name>`, or `holdfast/...` for what the runtime itself decides. */
  readonly policy: string;
  readonly type: Decision['type'];
  readonly reason?: string;
}
