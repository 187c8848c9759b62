export type { TodoPlan, TodoStep } from './plan.ts';
export { planCompleted } from './plan-completed.ts';
export { planSlice } from './plan-slice.ts';
export { type PlanningSectionOptions, planningSection } from './planning-section.ts';
export { planningTools } from './planning-tools.ts';
export { renderPlan } from './render-plan.ts';
export { defineStrategy, goalDecomposeRouteSynthesise, planActReflect, react, type Strategy } from './strategy.ts';
