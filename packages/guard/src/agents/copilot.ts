import type { Describer, Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { patchFacts } from '@holdfast/facts';
import type { GuardedCall, GuardVerdict } from '../decide/types.ts';
import {
  type Agent,
  commonDescribers,
  describeWaiting,
  type HookAnswer,
  type HookEvent,
  invalid,
  optionalText,
  readFields,
  silent,
  textField,
  toKept,
} from './agent.ts';

const name = 'copilot';

const idle = 'Agent Task TodoWrite AskUserQuestion update_todo task ask_user report_intent'.split(' ');

/** `apply_patch` is told as `Edit`, with the text of the patch in place of fields. */
const patches: Describer = {
  name,
  describe({ tool, input }, view) {
    const patch = tool === 'Edit' && isPlainObject(input) ? input['patch'] : undefined;
    if (typeof patch !== 'string') return undefined;
    return patchFacts({ tools: { Edit: 'patch' } }).describe({ tool, input }, view);
  },
};

/**
 * GitHub Copilot CLI, by its published hooks (not run), in the form that names each event. Its hooks get no id of a call and no word about
 * sub-agents. Whether an ask reaches a person is not certain, so it becomes a denial.
 */
export const copilot: Agent = {
  name,
  describers: [patches, ...commonDescribers(idle)],
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
    const reason = verdict.type === 'deny' ? verdict.reason : describeWaiting(verdict.reason);
    const permissionDecisionReason = reason.trim() || 'Denied by Holdfast.';
    // Exit code 2 denies the call; the output gives the reason.
    return {
      stdout: JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason }),
      stderr: '',
      exitCode: 2,
    };
  },
};

function readEvent(fields: JsonObject): HookEvent {
  switch (textField(name, fields, 'hook_event_name')) {
    case 'PreToolUse':
      return { type: 'before', call: readCall(fields) };
    case 'PostToolUse': {
      const call = readCall(fields);
      const { tool_result: result } = fields;
      const text = isPlainObject(result) ? result['text_result_for_llm'] : undefined;
      const report = { value: toKept(text as Json | undefined), input: call.input };
      // Its makers do not say how a failing command is told.
      return { type: 'after', call, report: { ok: call.name === 'Bash' ? 'unknown' : true, ...report } };
    }
    case 'PostToolUseFailure': {
      const message = optionalText(fields, 'error')?.slice(0, 2048) ?? 'The tool failed.';
      return { type: 'after', call: readCall(fields), report: { ok: false, message } };
    }
    case 'UserPromptSubmit':
      return { type: 'prompt', request: optionalText(fields, 'prompt') ?? '' };
    case 'SessionEnd':
      return { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject): GuardedCall {
  const { tool_input: told } = fields;
  const input = typeof told === 'string' ? { patch: told } : told;
  if (!isPlainObject(input)) throw invalid(name, '`tool_input` must be an object or a text');
  return {
    name: textField(name, fields, 'tool_name'),
    input: input as JsonObject,
    cwd: textField(name, fields, 'cwd'),
    agent: name,
  };
}
