import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { claudeCode, codex, gemini, pi } from '@holdfast/guard/agents';
import { hasCode } from '../terminal/system.ts';
import { opencodeFormat } from './opencode.ts';
import { objectOf, objectsOf, type Step, type TranscriptFormat, textOf, toCall } from './transcript.ts';

/**
 * Claude Code, by descriptions of others (not run). Claude Code writes no line when a person says yes; a no is a result that begins with
 * these words.
 */
const claudeFormat: TranscriptFormat = {
  agent: claudeCode,
  title: 'Claude Code',
  folder: '.claude/projects',
  holds: (path) => path.endsWith('.jsonl') && path.includes('/'),
  read(line) {
    const { sessionId, cwd, isSidechain, agentId, message } = line;
    const subAgentId = isSidechain === true ? (textOf(agentId) ?? 'sub-agent') : undefined;
    const steps: Step[] = [];
    for (const part of objectsOf(objectOf(message)['content'])) {
      if (line['type'] === 'assistant' && part['type'] === 'tool_use') {
        const call = toCall(part['id'], part['name'], part['input']);
        if (call !== undefined) steps.push({ ...call, ...(subAgentId === undefined ? {} : { subAgentId }) });
      }
      const id = textOf(part['tool_use_id']);
      if (line['type'] === 'user' && part['type'] === 'tool_result' && id !== undefined) {
        const text =
          typeof part['content'] === 'string'
            ? part['content']
            : (textOf(objectsOf(part['content'])[0]?.['text']) ?? '');
        if (text.startsWith("The user doesn't want to")) steps.push({ type: 'result', id, ok: 'not-run', asked: true });
        else steps.push({ type: 'result', id, ok: part['is_error'] !== true });
      }
    }
    return steps.length === 0 ? [] : [{ type: 'place', sessionId: textOf(sessionId), cwd: textOf(cwd) }, ...steps];
  },
};

/** Codex, as seen by running 0.169. */
const codexFormat: TranscriptFormat = {
  agent: codex,
  title: 'Codex',
  folder: '.codex/sessions',
  holds: (path) => /(?:^|\/)rollout-[^/]*\.jsonl$/.test(path),
  read(line) {
    const payload = objectOf(line['payload']);
    const { cwd, approval_policy: mode, id } = payload;
    switch (line['type']) {
      case 'session_meta':
        return [{ type: 'place', sessionId: textOf(id), cwd: textOf(cwd) }];
      case 'turn_context':
        return [{ type: 'place', cwd: textOf(cwd), mode: textOf(mode) }];
      case 'response_item':
        return readCodexItem(payload);
      default:
        return [];
    }
  },
};

function readCodexItem(item: JsonObject): readonly Step[] {
  const { type, call_id: id, name, namespace, action } = item;
  switch (type) {
    case 'function_call': {
      const input = objectOf(parseText(item['arguments']));
      const server = textOf(namespace);
      return inShell({
        id,
        name: server?.startsWith('mcp__') ? `${server}__${String(name)}` : name,
        input,
        command: shells.has(String(name)) ? (input['cmd'] ?? input['command']) : undefined,
        cwd: input['workdir'],
      });
    }
    case 'local_shell_call': {
      const { command, working_directory: cwd } = objectOf(action);
      return inShell({ id, name: 'shell', input: objectOf(action), command, cwd });
    }
    // Of these tools the input is a text, such as a patch.
    case 'custom_tool_call':
      return inShell({ id, name, input: { command: textOf(item['input']) ?? '' }, command: undefined, cwd: undefined });
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return typeof id === 'string' ? [{ type: 'result', id, ok: wasCodexSuccess(item['output']) }] : [];
    default:
      return [];
  }
}

const shells: ReadonlySet<string> = new Set(['exec_command', 'shell', 'shell_command', 'local_shell']);

interface CodexCall {
  readonly id: Json | undefined;
  readonly name: Json | undefined;
  readonly input: JsonObject;
  readonly command: Json | undefined;
  readonly cwd: Json | undefined;
}

/** Codex tells its hooks of a shell command as `Bash`. */
function inShell({ id, name, input, command, cwd }: CodexCall): readonly Step[] {
  const words = Array.isArray(command) ? command.map(String) : undefined;
  const [, flag, script] = words ?? [];
  const line = flag === '-lc' || flag === '-c' ? script : words?.map(quote).join(' ');
  const text = textOf(command) ?? line;
  const call = text === undefined ? toCall(id, name, input) : toCall(id, 'Bash', { command: text });
  if (call === undefined) return [];
  const { sandbox_permissions: sandbox, with_escalated_permissions: escalated } = input;
  const needsYes = sandbox === 'require_escalated' || escalated === true;
  return [
    { ...call, ...(typeof cwd === 'string' && isAbsolute(cwd) ? { cwd } : {}), ...(needsYes ? { needsYes } : {}) },
  ];
}

function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function wasCodexSuccess(output: Json | undefined): boolean | 'unknown' | 'not-run' {
  const told = objectOf(parseText(output));
  const { exit_code: coded } = objectOf(told['metadata']);
  const text = textOf(told['output']) ?? textOf(output) ?? '';
  const [, code = typeof coded === 'number' ? String(coded) : undefined] =
    /^(?:Process exited with code|Exit code:) (-?\d+)/m.exec(text) ?? [];
  if (code !== undefined) return code === '0';
  return /rejected by user|^exec_command failed.*rejected/im.test(text) ? 'not-run' : 'unknown';
}

/** Gemini CLI, as seen by running 0.61. A message is written again when its calls have ended. */
const geminiFormat: TranscriptFormat = {
  agent: gemini,
  title: 'Gemini CLI',
  folder: '.gemini/tmp',
  holds: (path) => /\/chats\/session-[^/]*\.jsonl$/.test(path),
  async findFolder(path) {
    try {
      const folder = (await readFile(join(dirname(path), '..', '.project_root'), 'utf8')).trim();
      return isAbsolute(folder) ? folder : undefined;
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT')) return undefined;
      throw thrown;
    }
  },
  read(line) {
    const sessionId = textOf(line['sessionId']);
    if (sessionId !== undefined) return [{ type: 'place', sessionId }];
    return objectsOf(line['toolCalls']).flatMap((told): readonly Step[] => {
      const call = toCall(told['id'], told['name'], told['args']);
      if (call === undefined) return [];
      const { status } = told;
      if (status === 'cancelled') return [call, { type: 'result', id: call.id, ok: 'not-run', asked: true }];
      if (status !== 'success' && status !== 'error') return [call];
      const failed =
        status === 'error' || /^Exit Code: (?!0$)/m.test(JSON.stringify(told['result'] ?? '').replaceAll('\\n', '\n'));
      return [call, { type: 'result', id: call.id, ok: !failed }];
    });
  },
};

/** pi, as seen by running 1.6. */
const piFormat: TranscriptFormat = {
  agent: pi,
  title: 'pi',
  folder: '.pi/agent/sessions',
  holds: (path) => path.endsWith('.jsonl'),
  read(line) {
    if (line['type'] === 'session') return [{ type: 'place', sessionId: textOf(line['id']), cwd: textOf(line['cwd']) }];
    const { role, content, toolCallId, isError } = objectOf(line['message']);
    if (role === 'toolResult' && typeof toolCallId === 'string')
      return [{ type: 'result', id: toolCallId, ok: isError !== true }];
    if (role !== 'assistant') return [];
    return objectsOf(content).flatMap((part) => {
      const call = part['type'] === 'toolCall' ? toCall(part['id'], part['name'], part['arguments']) : undefined;
      return call === undefined ? [] : [call];
    });
  },
};

export const formats: readonly TranscriptFormat[] = [claudeFormat, codexFormat, geminiFormat, opencodeFormat, piFormat];

/** The JSON in a text; `undefined` if there is none. */
function parseText(value: unknown): unknown {
  if (isPlainObject(value)) return value;
  // A command's output is seldom JSON.
  const parsed = typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}
