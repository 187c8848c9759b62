/** What may be spent. Exactly the limit is allowed. */
export interface BudgetLimits {
  /** Tool calls that are run, nested ones included. */
  readonly maxCalls?: number;
  /** Tokens that models read and wrote, as they report them. */
  readonly maxTokens?: number;
  /** Milliseconds in which runs and direct calls were under way. */
  readonly maxWallMs?: number;
}

/** Limits and what was spent so far. Shared by every run and call that it is given to, and by what is nested in them. */
export interface Budget {
  readonly limits: BudgetLimits;
  readonly used: { readonly calls: number; readonly tokens: number; readonly wallMs: number };
}
