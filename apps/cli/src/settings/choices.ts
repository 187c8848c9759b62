/** Isolation tiers, weakest to strictest. */
export const isolationTiers = ['in-process', 'worker', 'subprocess', 'sandbox'] as const;

/** How calls that need approval are answered: at the terminal, all approved, all denied, or later with `holdfast approve`. */
export type ApprovalMode = 'ask' | 'yes' | 'unattended' | 'suspend';
