/** Limits on spending. The full limit may be used. */
export interface BudgetLimits {
  /** Tool calls, including nested ones. */
  readonly maxCalls?: number;
  /** Tokens read and written by models, as they report them. */
  readonly maxTokens?: number;
  /** Milliseconds during which runs and direct calls were running. */
  readonly maxWallMs?: number;
}

/** Limits and usage, shared by every run and call that gets the budget and by everything nested in them. */
export interface Budget {
  readonly limits: BudgetLimits;
  readonly used: { readonly calls: number; readonly tokens: number; readonly wallMs: number };
}
