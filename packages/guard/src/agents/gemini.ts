import type { Describer, Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { DescribedCall } from '@holdfast/core/types';
import { shellFacts, unclearFacts } from '@holdfast/facts';
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
  silent,
  textField,
  toKept,
} from './agent.ts';

const name = 'gemini';

const idle =
  'write_todos ask_user update_topic complete_task enter_plan_mode exit_plan_mode get_internal_docs activate_skill invoke_agent list_mcp_resources tracker_create_task tracker_update_task tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize'.split(
    ' ',
  );

/** The places that Gemini CLI's own reading of an argument leaves open. */
const ownWays: Describer = {
  name,
  describe({ tool, input }, { folder, disk }) {
    if (!isPlainObject(input)) return undefined;
    const { file_path: path, no_ignore } = input as JsonObject;
    if (tool === 'grep_search' && no_ignore === true)
      return unclearFacts({ kind: 'words', use: 'reads', reason: '`no_ignore` searches ignored files too' });
    const isRelative = typeof path === 'string' && !path.startsWith('/');
    if (tool !== 'replace' || !isRelative || disk?.look(`${folder}/${path}`).type !== 'missing') return undefined;
    const reason = 'the file does not exist, so Gemini CLI may edit one of that name in another folder';
    return unclearFacts({ kind: 'words', use: 'writes', reason });
  },
};

/**
 * Gemini CLI, as observed by running it. Its hooks get no id of a call and no word about sub-agents, and an `ask` stops a run without a
 * terminal for good, so an ask becomes a denial.
 */
export const gemini: Agent = {
  name,
  describers: [
    ownWays,
    shellFacts({ tools: { run_shell_command: 'command' }, folder: 'dir_path' }),
    ...commonDescribers(idle).map(inCommonWords),
  ],
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
    return answerJson({ decision: 'deny', reason: reason.trim() || 'Denied by Holdfast.' });
  },
};

/** Gemini CLI names some arguments otherwise than other agents do. */
function inCommonWords(describer: Describer): Describer {
  return {
    ...describer,
    describe(call, view) {
      const common = toCommonWords(call);
      return common === undefined ? undefined : describer.describe(common, view);
    },
  };
}

function toCommonWords({ tool, input }: DescribedCall): DescribedCall | undefined {
  // Has its own describer.
  if (tool === 'run_shell_command') return undefined;
  if (tool.startsWith('mcp__') || !isPlainObject(input)) return { tool, input };
  const { dir_path, file_path, include_pattern: glob, prompt } = input as JsonObject;
  switch (tool) {
    case 'grep_search':
      return {
        tool: 'grep',
        input: {
          ...(dir_path === undefined ? {} : { path: toSpellings(dir_path) }),
          ...(glob === undefined ? {} : { glob }),
        },
      };
    case 'web_fetch':
      return {
        tool,
        input: { url: typeof prompt === 'string' ? (prompt.match(/https?:\/\/[^\s"'<>)\]]+/gi) ?? []) : [] },
      };
    // Takes patterns of paths: asked about, as an unknown tool.
    case 'read_many_files':
      return undefined;
    default:
      return { tool, input: file_path === undefined ? (input as Json) : { file_path: toSpellings(file_path) } };
  }
}

/** The paths that Gemini CLI may take one for: it drops a leading `@` and zero bytes, and decodes `%2e`. */
function toSpellings(path: Json): Json {
  if (typeof path !== 'string') return path;
  const clean = path.replaceAll('\0', '');
  const found = new Set([clean, clean.replace(/^@[\\/]*/, '')]);
  for (const spelling of found) {
    try {
      found.add(decodeURIComponent(spelling));
    } catch {
      // Not encoded: used as it is.
    }
  }
  return [...found];
}

function readEvent(fields: JsonObject): HookEvent {
  switch (textField(name, fields, 'hook_event_name')) {
    case 'BeforeTool':
      return { type: 'before', call: readCall(fields) };
    case 'AfterTool': {
      const call = readCall(fields);
      return { type: 'after', call, report: readReport(call, fields['tool_response']) };
    }
    case 'BeforeAgent':
      return { type: 'prompt', request: withoutFiles(optionalText(fields, 'prompt') ?? '') };
    case 'SessionEnd':
      return { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject): GuardedCall {
  const { tool_input: input } = fields;
  if (!isPlainObject(input)) throw invalid(name, '`tool_input` must be an object');
  return {
    name: readToolName(fields),
    input: input as JsonObject,
    cwd: textField(name, fields, 'cwd'),
    agent: name,
  };
}

/** A tool of an MCP server is named as in other agents: `mcp_a_b` may be tool `b` of `a`, or of a server `a_b`. */
function readToolName(fields: JsonObject): string {
  const { mcp_context: server } = fields;
  if (!isPlainObject(server)) return textField(name, fields, 'tool_name');
  return `mcp__${textField(name, server as JsonObject, 'server_name')}__${textField(name, server as JsonObject, 'tool_name')}`;
}

/** The text that a person typed: files named with `@` are added below. */
function withoutFiles(prompt: string): string {
  return prompt.split('\n--- Content from referenced files ---')[0] ?? '';
}

/** The end of a command's result; lines between say that it failed, or goes on in the background. */
const ending =
  /\n((?:(?:Error|Exit Code|Signal|Background PIDs): .*\n)*)Process Group PGID: \d+\s*(?:<\/untrusted_context>\s*)?$/;

function readReport({ name: tool, input }: GuardedCall, response: Json | undefined): GuardReport {
  const { llmContent: content, error } = isPlainObject(response) ? (response as JsonObject) : {};
  const report = { value: toKept(content), input };
  if (error !== undefined) return { ok: false, ...report };
  if (tool !== 'run_shell_command') return { ok: true, ...report };
  const [, lines] = (typeof content === 'string' && ending.exec(content)) || [];
  // Cancelled, in the background, or summarized.
  if (lines === undefined || lines.includes('Background PIDs')) return { ok: 'unknown', ...report };
  return { ok: lines === '', ...report };
}
