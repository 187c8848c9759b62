export {
  type ClaudeHookMatcher,
  type ClaudeHookOutput,
  type ClaudeHooks,
  type GovernClaudeOptions,
  type GovernedQuery,
  governQuery,
} from './frameworks/claude-agent-sdk.ts';
export type { GovernOptions } from './frameworks/run.ts';
