import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Transcripts of the agents in a home, each of one session in `folder` with these commands. Written as the agents write them. */
export function toTranscripts(folder: string, commands: readonly TestCommand[]): Readonly<Record<string, string>> {
  return {
    '.claude/projects/-w/s1.jsonl': toLines(claudeLines(folder, commands)),
    '.codex/sessions/2026/05/17/rollout-2026-05-17T00-00-00-s1.jsonl': toLines(codexLines(folder, commands)),
    '.gemini/tmp/work/.project_root': folder,
    '.gemini/tmp/work/chats/session-2026-05-17T00-00-s1.jsonl': toLines(geminiLines(commands)),
    '.pi/agent/sessions/--w--/2026-05-17T00-00-00-000Z_s1.jsonl': toLines(piLines(folder, commands)),
  };
}

export interface TestCommand {
  readonly command: string;
  /** Default 0; `no`: a person refused. */
  readonly ends?: number | 'no';
}

export function toLines(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const at = (index: number): string => new Date(Date.UTC(2026, 4, 17) + index * 1000).toISOString();

/** From descriptions of the format by others. */
export function claudeLines(cwd: string, commands: readonly TestCommand[]): readonly object[] {
  const line = (index: number, type: string, content: unknown) => ({
    ...{ type, uuid: `u${index}`, sessionId: 's1', cwd, isSidechain: false, timestamp: at(index) },
    message: { role: type, content },
  });
  const refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
  return [
    { type: 'file-history-snapshot', messageId: 'm' },
    line(0, 'user', 'Do it.'),
    ...commands.flatMap(({ command, ends = 0 }, index) => [
      line(2 * index + 1, 'assistant', [
        { type: 'text', text: 'So.' },
        { type: 'tool_use', id: `t${index}`, name: 'Bash', input: { command, description: 'x' } },
      ]),
      line(2 * index + 2, 'user', [
        {
          ...{ type: 'tool_result', tool_use_id: `t${index}` },
          ...(ends === 'no'
            ? { content: refusal, is_error: true }
            : { content: [{ type: 'text', text: 'out' }], is_error: ends !== 0 }),
        },
      ]),
    ]),
  ];
}

/** As Codex 0.169 wrote them, shortened. */
export function codexLines(
  cwd: string,
  commands: readonly TestCommand[],
  approval_policy = 'on-request',
): readonly object[] {
  const line = (index: number, type: string, payload: object) => ({
    timestamp: at(index),
    ordinal: index,
    type,
    payload,
  });
  return [
    line(0, 'session_meta', { session_id: 's1', id: 's1', cwd, originator: 'codex_exec', cli_version: '0.169.0' }),
    line(0, 'event_msg', { type: 'task_started', turn_id: 'a' }),
    line(0, 'turn_context', { turn_id: 'a', cwd, approval_policy, model: 'gpt-5' }),
    line(0, 'response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do it.' }] }),
    ...commands.flatMap(({ command, ends = 0 }, index) => [
      line(2 * index + 1, 'response_item', {
        ...{ type: 'function_call', id: `item-${index}`, name: 'exec_command', call_id: `call-${index}` },
        arguments: JSON.stringify({
          cmd: command,
          ...(ends === 'no' ? { sandbox_permissions: 'require_escalated' } : {}),
        }),
      }),
      line(2 * index + 2, 'response_item', {
        ...{ type: 'function_call_output', call_id: `call-${index}` },
        output:
          ends === 'no'
            ? 'exec_command failed: rejected by user'
            : `Chunk ID: f7f446\nWall time: 0.0000 seconds\nProcess exited with code ${ends}\nOriginal token count: 4\nOutput:\nout\n`,
      }),
    ]),
  ];
}

/** As Gemini CLI 0.61 wrote them, shortened. */
export function geminiLines(commands: readonly TestCommand[]): readonly object[] {
  return [
    { sessionId: 's1', projectHash: 'c5', startTime: at(0), lastUpdated: at(0), kind: 'main' },
    { $set: { messages: [{ id: 'm', timestamp: at(0), type: 'user', content: [{ text: '<session_context>' }] }] } },
    ...commands.flatMap(({ command, ends = 0 }, index) => {
      const message = { id: `m${index}`, timestamp: at(index + 1), type: 'gemini', content: '', thoughts: [] };
      const output = `<untrusted_context>\nOutput: out${ends === 0 ? '' : `\nExit Code: ${ends}`}\nProcess Group PGID: 1\n</untrusted_context>`;
      const id = `run_shell_command_${index}`;
      const result = [{ functionResponse: { id, name: 'run_shell_command', response: { output } } }];
      const call = {
        id,
        name: 'run_shell_command',
        args: { command },
        result,
        status: ends === 'no' ? 'cancelled' : 'success',
      };
      return [message, { ...message, toolCalls: [call] }, { $set: { lastUpdated: at(index + 1) } }];
    }),
  ];
}

/** As pi 1.6 wrote them, shortened. */
export function piLines(cwd: string, commands: readonly TestCommand[]): readonly object[] {
  const line = (index: number, message: object) => ({
    type: 'message',
    id: `${index}`,
    parentId: null,
    timestamp: at(index),
    message,
  });
  return [
    { type: 'session', version: 3, id: 's1', timestamp: at(0), cwd },
    line(0, { role: 'user', content: [{ type: 'text', text: 'Do it.' }] }),
    ...commands.flatMap(({ command, ends = 0 }, index) => [
      line(2 * index + 1, {
        role: 'assistant',
        content: [{ type: 'toolCall', id: `call-${index}|item-${index}`, name: 'bash', arguments: { command } }],
      }),
      line(2 * index + 2, {
        ...{ role: 'toolResult', toolCallId: `call-${index}|item-${index}`, toolName: 'bash' },
        ...{ content: [{ type: 'text', text: 'out' }], isError: ends !== 0 },
      }),
    ]),
  ];
}

/** A database as opencode 1.18 wrote it, with the columns that are read. */
export function writeOpencode(home: string, folder: string, commands: readonly TestCommand[]): void {
  const parts = commands.map(({ command, ends = 0 }, index) => ({
    ...{ type: 'tool', tool: 'bash', callID: `call-${index}` },
    state: {
      input: { command },
      ...(ends === 'no'
        ? { status: 'error', error: 'The user rejected permission to use this specific tool call.' }
        : { status: 'completed', output: 'out', metadata: { output: 'out', exit: ends } }),
    },
  }));
  writeParts(home, [{ id: 's1', directory: folder }], { s1: parts.map((part) => JSON.stringify(part)) });
}

interface TestSession {
  readonly id: string;
  readonly directory: string;
  readonly parent?: string;
}

/** Sessions with the text of their parts. */
export function writeParts(
  home: string,
  sessions: readonly TestSession[],
  parts: Readonly<Record<string, readonly string[]>>,
): void {
  const path = join(home, '.local/share/opencode');
  mkdirSync(path, { recursive: true });
  const database = new DatabaseSync(join(path, 'opencode.db'));
  database.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, time_updated INTEGER NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);`);
  const atMs = Date.UTC(2026, 4, 17);
  for (const { id, directory, parent = null } of sessions) {
    database.prepare('INSERT INTO session VALUES (?, ?, ?, ?)').run(id, parent, directory, atMs + 60_000);
    for (const [index, text] of (parts[id] ?? []).entries())
      database.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run(`${id}-${index}`, id, atMs + index * 1000, text);
  }
  database.close();
}
