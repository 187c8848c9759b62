import { spawn } from 'node:child_process';
import { hasCode } from '../terminal/system.ts';

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SendOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For its stdin. */
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/**
 * Runs a command by the shell, as an agent runs its hooks and the commands of its model. Rejects with the reason of `signal`, once the
 * shell and what it started have ended.
 */
export function runCommand(command: string, { folder, environment, input = '', signal }: SendOptions): Promise<Ended> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A group of its own: killed as a whole, and a Ctrl-C at the terminal reaches only its parent.
    const isGroup = process.platform !== 'win32';
    const child = spawn(command, { shell: true, cwd: folder, env: { ...environment }, detached: isGroup });
    const kill = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL');
      } catch (thrown) {
        if (!hasCode(thrown, 'ESRCH')) throw thrown;
      }
    };
    const timer = setTimeout(kill, 30_000);
    signal?.addEventListener('abort', kill, { once: true });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      if (signal?.aborted === true) reject(signal.reason);
      else resolve({ code, stdout, stderr });
    });
    // A command that ends without reading its input is told by its answer.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

export interface ToldCall {
  readonly session: string;
  readonly id: string;
  readonly command: string;
  readonly folder: string;
}

/** An event of Claude Code about a shell command; Codex sends the same fields and its turn. */
export function toEvent(event: string, { session, id, command, folder }: ToldCall, more: object = {}): string {
  return JSON.stringify({
    session_id: session,
    cwd: folder,
    hook_event_name: event,
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: id,
    ...more,
  });
}

/** How an agent asks its hook about a shell command. */
export function toQuestion(agent: string, call: ToldCall): string {
  const { session, command, folder } = call;
  switch (agent) {
    case 'gemini':
      return JSON.stringify({
        session_id: session,
        cwd: folder,
        hook_event_name: 'BeforeTool',
        tool_name: 'run_shell_command',
        tool_input: { command },
      });
    case 'cursor':
      return JSON.stringify({
        conversation_id: session,
        workspace_roots: [folder],
        cwd: folder,
        hook_event_name: 'preToolUse',
        tool_name: 'Shell',
        tool_input: { command },
        tool_use_id: call.id,
      });
    case 'copilot':
      return JSON.stringify({
        session_id: session,
        cwd: folder,
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command },
      });
    case 'opencode':
      return JSON.stringify({
        hook_event_name: 'tool.execute.before',
        session_id: session,
        cwd: folder,
        mcp_servers: [],
        event: { tool: 'bash', sessionID: session, callID: call.id, args: { command } },
      });
    case 'pi':
      return JSON.stringify({
        hook_event_name: 'tool_call',
        session_id: session,
        cwd: folder,
        event: { type: 'tool_call', toolName: 'bash', toolCallId: call.id, input: { command } },
      });
    default:
      return toEvent('PreToolUse', call, agent === 'codex' ? { turn_id: session } : {});
  }
}
