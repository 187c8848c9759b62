export { governTools } from './frameworks/mastra.ts';
export type { GovernOptions } from './frameworks/run.ts';
