import { isPlainObject } from '@holdfast/core/internal';
import { type Ended, runCommand, toEvent } from './send-event.ts';

/** A call of the scripted agent. */
export interface Tried {
  readonly id: string;
  readonly command: string;
  /** The guard's answer. */
  readonly answer: 'allowed' | 'denied' | 'asked';
  readonly reason?: string;
  readonly ran: boolean;
  readonly exitCode?: number | null;
}

export interface AgentOptions {
  /** The installed commands, by event. */
  readonly hooks: ReadonlyMap<string, readonly string[]>;
  readonly session: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/**
 * Does what Claude Code does with a shell command of its model: sends it to the installed hook, takes a yes of its person where the hook
 * asks, runs it by the shell, and reports how it went.
 */
export async function makeCall({ id, command }: Pick<Tried, 'id' | 'command'>, options: AgentOptions): Promise<Tried> {
  const call = { id, command, session: options.session, folder: options.folder };
  const send = (event: string, more: object = {}): Promise<Ended> =>
    runCommand(options.hooks.get(event)?.[0] ?? 'exit 2', { ...options, input: toEvent(event, call, more) });
  const { answer, reason } = readAnswer(await send('PreToolUse'));
  const tried = { id, command, answer, ...(reason === undefined ? {} : { reason }) };
  if (answer === 'denied') return { ...tried, ran: false };
  const { code, stdout, stderr } = await runCommand(command, options);
  if (code === 0) await send('PostToolUse', { tool_response: { stdout, stderr } });
  else await send('PostToolUseFailure', { error: `exit code ${code}` });
  return { ...tried, ran: true, exitCode: code };
}

function readAnswer({ code, stdout, stderr }: Ended): Pick<Tried, 'answer' | 'reason'> {
  if (code !== 0) return { answer: 'denied', reason: stderr.trim() };
  if (stdout === '') return { answer: 'allowed' };
  const { hookSpecificOutput: output } = JSON.parse(stdout) as { readonly hookSpecificOutput?: unknown };
  const { permissionDecision, permissionDecisionReason } = isPlainObject(output) ? output : {};
  return {
    answer: permissionDecision === 'ask' ? 'asked' : 'denied',
    reason: String(permissionDecisionReason ?? ''),
  };
}
