/** Where tools of the folder run, from the weakest isolation to the strictest. */
export const isolationTiers = ['in-process', 'worker', 'subprocess', 'sandbox'] as const;

/** How calls that need approval are answered: at the terminal, by a yes or a no to all, or later by `holdfast approve`. */
export type ApprovalMode = 'ask' | 'yes' | 'unattended' | 'suspend';
