export { type HoldfastMiddleware, holdfastMiddleware } from './frameworks/langchain.ts';
export { type HoldfastToolsMiddleware, type LangChainTools, toLangChainTools } from './frameworks/langchain-tools.ts';
export type { OwnToolOptions, OwnTools } from './frameworks/own-tools.ts';
export type { GovernOptions } from './frameworks/run.ts';
