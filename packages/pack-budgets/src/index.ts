export { type BudgetsOptions, budgets } from './budgets.ts';
