export { governTool } from './frameworks/openai-agents.ts';
export { toOpenAiTools } from './frameworks/openai-agents-tools.ts';
export type { OwnToolOptions, OwnTools } from './frameworks/own-tools.ts';
export type { GovernOptions } from './frameworks/run.ts';
