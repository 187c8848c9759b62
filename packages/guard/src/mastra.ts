export { governTools } from './frameworks/mastra.ts';
export { type MastraTools, toMastraTools } from './frameworks/mastra-tools.ts';
export type { OwnToolOptions, OwnTools } from './frameworks/own-tools.ts';
export type { GovernOptions } from './frameworks/run.ts';
