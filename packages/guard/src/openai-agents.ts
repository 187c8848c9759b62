export { governTool } from './frameworks/openai-agents.ts';
export type { GovernOptions } from './frameworks/run.ts';
