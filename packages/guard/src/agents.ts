export { type Agent, type HookAnswer, type HookEvent, type HookInput, refuse } from './agents/agent.ts';
export { claudeCode } from './agents/claude-code.ts';
export { codex } from './agents/codex.ts';
export { copilot } from './agents/copilot.ts';
export { cursor } from './agents/cursor.ts';
export { gemini } from './agents/gemini.ts';
export { opencode } from './agents/opencode.ts';
export { pi } from './agents/pi.ts';
export { runHook } from './agents/run-hook.ts';
