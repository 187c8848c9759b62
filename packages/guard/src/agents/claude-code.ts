import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { GuardedCall, GuardVerdict } from '../decide/types.ts';
import {
  type Agent,
  answerJson,
  commonDescribers,
  describeWaiting,
  type HookAnswer,
  type HookEvent,
  invalid,
  optionalText,
  readFields,
  readPrompt,
  silent,
  textField,
  toKept,
} from './agent.ts';

const name = 'claude-code';

/** Modes in which an `ask` reaches a person or, headless, is denied. In other modes Claude Code may approve it on its own. */
const asksPerson: ReadonlySet<string> = new Set(['default', 'acceptEdits', 'plan']);

const idle =
  'TodoWrite TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop AskUserQuestion EnterPlanMode ExitPlanMode ToolSearch BashOutput KillShell KillBash'.split(
    ' ',
  );

/** Claude Code, by its published hook protocol. Starting a sub-agent has no effect by itself: the sub-agent's calls pass the same hooks. */
export const claudeCode: Agent = {
  name,
  describers: commonDescribers([...idle, 'Task', 'Agent', 'Skill']),
  readHook(text) {
    const fields = readFields(name, text);
    return {
      sessionId: textField(name, fields, 'session_id'),
      cwd: textField(name, fields, 'cwd'),
      event: readEvent(fields),
    };
  },
  answer,
};

function readEvent(fields: JsonObject): HookEvent {
  switch (textField(name, fields, 'hook_event_name')) {
    case 'PreToolUse':
      return { type: 'before', call: readCall(fields) };
    case 'PostToolUse': {
      const call = readCall(fields);
      const value = toKept(fields['tool_response']);
      // A command in the background has only been started.
      const background = isPlainObject(call.input) && call.input['run_in_background'] === true;
      return { type: 'after', call, report: { ok: background ? 'unknown' : true, value, input: call.input } };
    }
    case 'PostToolUseFailure': {
      const message = optionalText(fields, 'error')?.slice(0, 2048) ?? 'The tool failed.';
      return { type: 'after', call: readCall(fields), report: { ok: false, message } };
    }
    case 'PermissionDenied':
      return { type: 'after', call: readCall(fields), report: { ok: 'not-run' } };
    case 'UserPromptSubmit':
      return readPrompt(fields);
    case 'SessionEnd':
      return { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject): GuardedCall {
  const { tool_input: input } = fields;
  if (!isPlainObject(input)) throw invalid(name, '`tool_input` must be an object');
  const mode = optionalText(fields, 'permission_mode');
  const subAgentId = optionalText(fields, 'agent_id');
  return {
    id: textField(name, fields, 'tool_use_id'),
    name: textField(name, fields, 'tool_name'),
    input: input as JsonObject,
    cwd: textField(name, fields, 'cwd'),
    agent: name,
    ...(subAgentId === undefined ? {} : { subAgentId }),
    ...(mode === undefined ? {} : { mode }),
    agentAsks: mode !== undefined && asksPerson.has(mode),
  };
}

function answer(verdict: GuardVerdict, { agentAsks }: GuardedCall): HookAnswer {
  switch (verdict.type) {
    case 'allow':
      return silent;
    case 'deny':
      return decide('deny', verdict.reason);
    case 'ask':
      return agentAsks === true ? decide('ask', verdict.reason) : decide('deny', describeWaiting(verdict.reason));
  }
}

function decide(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string): HookAnswer {
  return answerJson({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  });
}
