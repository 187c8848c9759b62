export { type BudgetsOptions, budgets, type Writing } from './budgets.ts';
export type { Taking } from './measure.ts';
