import type { Describer, Json, JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { shellFacts } from '@holdfast/facts';
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
  textField,
  toKept,
} from './agent.ts';

const name = 'cursor';

/** Other names for the tools of other agents. */
const commonNames: ReadonlyMap<string, string> = new Map([
  ['Delete', 'delete_file'],
  ['StrReplace', 'str_replace'],
]);

const idle = ['Task', 'TodoWrite', 'AskQuestion', 'ReadLints', 'SwitchMode'];

/**
 * Cursor, by its published hooks (not run). An ask is not enforced there, so it becomes a denial. Its hooks fail closed, and then need an
 * answer for each call: no output would deny it.
 */
export const cursor: Agent = {
  name,
  describers: [
    shellFacts({ tools: { Shell: 'command' }, folder: 'cwd' }),
    ...commonDescribers(idle).map(inCommonNames),
  ],
  readHook(text) {
    const fields = readFields(name, text);
    return { sessionId: textField(name, fields, 'conversation_id'), cwd: folderOf(fields), event: readEvent(fields) };
  },
  answer(verdict: GuardVerdict): HookAnswer {
    if (verdict.type === 'allow') return answerJson({ permission: 'allow' });
    const told = verdict.type === 'deny' ? verdict.reason : describeWaiting(verdict.reason);
    const reason = told.trim() || 'Denied by Holdfast.';
    // One of them reaches the model, which one depends on the version.
    return answerJson({ permission: 'deny', user_message: reason, agent_message: reason });
  },
};

function inCommonNames(describer: Describer): Describer {
  return {
    ...describer,
    describe: (call, view) => describer.describe({ ...call, tool: commonNames.get(call.tool) ?? call.tool }, view),
  };
}

/** A session has several folders, and an empty `cwd` where a tool has none of its own. */
function folderOf(fields: JsonObject): string {
  const cwd = optionalText(fields, 'cwd') ?? '';
  const { workspace_roots: roots } = fields;
  const first = Array.isArray(roots) ? roots.find((root) => typeof root === 'string' && root !== '') : undefined;
  if (cwd !== '') return cwd;
  if (typeof first !== 'string') throw invalid(name, '`cwd` or `workspace_roots` must name a folder');
  return first;
}

function readEvent(fields: JsonObject): HookEvent {
  switch (textField(name, fields, 'hook_event_name')) {
    case 'preToolUse':
      return { type: 'before', call: readCall(fields) };
    case 'postToolUse': {
      const call = readCall(fields);
      return { type: 'after', call, report: readReport(call, fields['tool_output']) };
    }
    case 'postToolUseFailure': {
      if (fields['failure_type'] === 'permission_denied')
        return { type: 'after', call: readCall(fields), report: { ok: 'not-run' } };
      const message = optionalText(fields, 'error_message')?.slice(0, 2048) ?? 'The tool failed.';
      return { type: 'after', call: readCall(fields), report: { ok: false, message } };
    }
    case 'beforeSubmitPrompt':
      return { type: 'prompt', request: optionalText(fields, 'prompt') ?? '' };
    case 'sessionEnd':
      return { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject): GuardedCall {
  const { tool_input: input } = fields;
  if (!isPlainObject(input)) throw invalid(name, '`tool_input` must be an object');
  return {
    id: textField(name, fields, 'tool_use_id'),
    // Hooks are told the tool of a server, and not the server.
    name: textField(name, fields, 'tool_name').replace(/^MCP:/, `mcp__${name}__`),
    input: input as JsonObject,
    cwd: folderOf(fields),
    agent: name,
  };
}

/** The result is JSON in a text; that of a command has its exit code. */
function readReport({ name: tool, input }: GuardedCall, output: Json | undefined): GuardReport {
  const parsed = typeof output === 'string' ? parseJson(output) : undefined;
  const value = parsed?.ok === true ? (parsed.value as Json) : output;
  const report = { value: toKept(value), input };
  if (tool !== 'Shell') return { ok: true, ...report };
  const code = isPlainObject(value) ? value['exitCode'] : undefined;
  return { ok: typeof code === 'number' ? code === 0 : 'unknown', ...report };
}
