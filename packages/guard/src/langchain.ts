export { type HoldfastMiddleware, holdfastMiddleware } from './frameworks/langchain.ts';
export type { GovernOptions } from './frameworks/run.ts';
