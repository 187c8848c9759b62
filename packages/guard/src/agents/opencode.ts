import type { Describer, Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { patchFacts, shellFacts } from '@holdfast/facts';
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

const name = 'opencode';

const idle = 'invalid lsp plan_enter plan_exit question skill task todoread todowrite'.split(' ');

/** Its names for the arguments of these tools are its own. */
const ownWords: readonly Describer[] = [
  shellFacts({ tools: { bash: 'command' }, folder: 'workdir' }),
  patchFacts({ tools: { apply_patch: 'patchText' } }),
];

function exceptOwn(describer: Describer): Describer {
  const isOwn = (tool: string): boolean => tool === 'bash' || tool === 'apply_patch';
  return { ...describer, describe: (call, view) => (isOwn(call.tool) ? undefined : describer.describe(call, view)) };
}

/**
 * opencode, as observed by running it. It has no hooks: a plugin passes its events on as they are, with the session that a sub-agent works
 * for and the names of the MCP servers. What asks a person there comes after the plugin, so an ask becomes a denial.
 */
export const opencode: Agent = {
  name,
  describers: [...ownWords, ...commonDescribers(idle).map(exceptOwn)],
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

function readEvent(fields: JsonObject): HookEvent {
  const { event, sub_agent_id: subAgent } = fields;
  if (!isPlainObject(event)) throw invalid(name, '`event` must be an object');
  const told = event as JsonObject;
  switch (textField(name, fields, 'hook_event_name')) {
    case 'tool.execute.before':
      return { type: 'before', call: readCall(fields, told) };
    case 'tool.execute.after': {
      const call = readCall(fields, told);
      return { type: 'after', call, report: readReport(call, told) };
    }
    case 'chat.message':
      // A model writes to a sub-agent.
      return subAgent === undefined ? { type: 'prompt', request: readTyped(told['parts']) } : { type: 'other' };
    case 'dispose':
      return { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject, told: JsonObject): GuardedCall {
  const { args: input } = told;
  if (!isPlainObject(input)) throw invalid(name, '`args` must be an object');
  const subAgentId = optionalText(fields, 'sub_agent_id');
  return {
    id: textField(name, told, 'callID'),
    name: toCommonName(textField(name, told, 'tool'), fields['mcp_servers']),
    input: input as JsonObject,
    cwd: textField(name, fields, 'cwd'),
    agent: name,
    ...(subAgentId === undefined ? {} : { subAgentId }),
  };
}

/** `a_b` may be tool `b` of the server `a`. Where two servers could have it, it stays a tool of which nothing is known. */
function toCommonName(tool: string, servers: Json | undefined): string {
  const names = Array.isArray(servers) ? servers.filter((server) => typeof server === 'string') : [];
  const found = names.filter((server) => tool.startsWith(toPrefix(server)) && tool !== toPrefix(server));
  const [server] = found;
  return server === undefined || found.length > 1 ? tool : `mcp__${server}__${tool.slice(toPrefix(server).length)}`;
}

function toPrefix(server: string): string {
  return `${server.replaceAll(/[^\w-]/g, '_')}_`;
}

/** A tool that throws is not reported at all. */
function readReport({ name: tool, input }: GuardedCall, told: JsonObject): GuardReport {
  const { output, content, metadata, isError } = told;
  const report = { value: toKept(output ?? content), input };
  if (tool !== 'bash') return { ok: isError !== true, ...report };
  const exit = isPlainObject(metadata) ? metadata['exit'] : undefined;
  return { ok: typeof exit === 'number' ? exit === 0 : 'unknown', ...report };
}

/** The text that a person typed: files and what a program added are marked. */
function readTyped(parts: Json | undefined): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .flatMap((part) => {
      if (!isPlainObject(part)) return [];
      const { type, text, synthetic } = part as JsonObject;
      return type === 'text' && synthetic !== true && typeof text === 'string' ? [text] : [];
    })
    .join('\n');
}
