import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { GuardedCall, GuardReport, GuardVerdict } from '../decide/types.ts';
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

const name = 'codex';

const idle =
  'update_plan request_user_input get_goal create_goal update_goal spawn_agent send_input resume_agent wait wait_agent close_agent tool_search'.split(
    ' ',
  );

/** Codex, as observed by running it. It never asks a person on behalf of a hook, so an ask becomes a denial. */
export const codex: Agent = {
  name,
  describers: commonDescribers(idle),
  readHook(text) {
    const fields = readFields(name, text);
    return {
      sessionId: textField(name, fields, 'session_id'),
      cwd: textField(name, fields, 'cwd'),
      event: readEvent(fields),
    };
  },
  answer(verdict: GuardVerdict): HookAnswer {
    if (verdict.type === 'allow') return silent;
    return deny(verdict.type === 'deny' ? verdict.reason : describeWaiting(verdict.reason));
  },
};

function readEvent(fields: JsonObject): HookEvent {
  switch (textField(name, fields, 'hook_event_name')) {
    case 'PreToolUse':
      return { type: 'before', call: readCall(fields) };
    case 'PostToolUse': {
      const call = readCall(fields);
      return { type: 'after', call, report: readReport(call, fields['tool_response']) };
    }
    case 'UserPromptSubmit':
      return readPrompt(fields);
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
  };
}

/** A shell command reports its output and no exit code: that it succeeded is not known. */
function readReport(call: GuardedCall, response: Json | undefined): GuardReport {
  const report = { value: toKept(response), input: call.input };
  if (call.name === 'Bash') return { ok: 'unknown', ...report };
  if (call.name === 'apply_patch')
    return { ok: typeof response === 'string' && /^Exit code: 0\b/.test(response), ...report };
  return { ok: !(isPlainObject(response) && response['isError'] === true), ...report };
}

/** Exactly these fields: with any other one Codex lets the call through. */
function deny(reason: string): HookAnswer {
  const permissionDecisionReason = reason.trim() || 'Denied by Holdfast.';
  return answerJson({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
  });
}
