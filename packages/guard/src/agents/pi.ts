import type { Describer, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { noFacts } from '@holdfast/facts';
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
  silent,
  textField,
  toKept,
} from './agent.ts';

const name = 'pi';

/** The calls of a `codemode` script pass the same hooks. */
const idle = ['codemode', 'tool_search'];

/** Shows only names, as `ls` does. */
const findsNames: Describer = { name, describe: ({ tool }) => (tool === 'find' ? noFacts : undefined) };

/**
 * pi (`@earendil-works/pi-coding-agent`), as observed by running it. It has no hooks: an extension passes its events on as they are. What
 * asks a person there is up to other extensions, so an ask becomes a denial.
 */
export const pi: Agent = {
  name,
  describers: [findsNames, ...commonDescribers(idle).map(withSpellings)],
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

const fileTools: ReadonlySet<string> = new Set(['read', 'write', 'edit', 'grep', 'ls']);

function withSpellings(describer: Describer): Describer {
  return {
    ...describer,
    describe(call, view) {
      const { tool, input } = call;
      if (!fileTools.has(tool) || !isPlainObject(input) || typeof input['path'] !== 'string')
        return describer.describe(call, view);
      return describer.describe({ tool, input: { ...input, path: toSpellings(input['path']) } as JsonObject }, view);
    },
  };
}

/** The paths that pi may take one for: it drops a leading `@` and evens out spaces, and looks for decomposed letters and curly quotes. */
function toSpellings(path: string): readonly string[] {
  const plain = path.replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ').replace(/^@/, '');
  const quoted = plain.replaceAll("'", '\u2019');
  return [...new Set([plain, plain.normalize('NFD'), quoted, quoted.normalize('NFD')])];
}

function readEvent(fields: JsonObject): HookEvent {
  const { event } = fields;
  if (!isPlainObject(event)) throw invalid(name, '`event` must be an object');
  const told = event as JsonObject;
  switch (textField(name, fields, 'hook_event_name')) {
    case 'tool_call':
      return { type: 'before', call: readCall(fields, told) };
    case 'tool_result': {
      const call = readCall(fields, told);
      return {
        type: 'after',
        call,
        report: { ok: told['isError'] === false, value: toKept(told['content']), input: call.input },
      };
    }
    case 'input':
      return readInput(told);
    case 'session_shutdown':
      return told['reason'] === 'reload' ? { type: 'other' } : { type: 'end' };
    default:
      return { type: 'other' };
  }
}

function readCall(fields: JsonObject, told: JsonObject): GuardedCall {
  const { input } = told;
  if (input === undefined) throw invalid(name, '`input` is missing');
  return {
    id: textField(name, told, 'toolCallId'),
    name: textField(name, told, 'toolName'),
    input,
    cwd: textField(name, fields, 'cwd'),
    agent: name,
  };
}

/** The text that a person typed. A message that steers arrives while calls are running, and one of an extension is not a person's. */
function readInput(told: JsonObject): HookEvent {
  if (told['streamingBehavior'] !== undefined || told['source'] === 'extension') return { type: 'other' };
  return { type: 'prompt', request: optionalText(told, 'text') ?? '' };
}
