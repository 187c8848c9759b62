export { type Agent, type HookAnswer, type HookEvent, type HookInput, refuse } from './agents/agent.ts';
export { claudeCode } from './agents/claude-code.ts';
export { codex } from './agents/codex.ts';
export { runHook } from './agents/run-hook.ts';
