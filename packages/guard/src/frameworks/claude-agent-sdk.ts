import { isPlainObject } from '@holdfast/core/internal';
import type { Agent } from '../agents/agent.ts';
import { describeWaiting } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code.ts';
import { runHook } from '../agents/run-hook.ts';
import type { GuardedCall, ReleasingGuard } from '../decide/types.ts';
import type { GovernOptions } from './run.ts';

/** The answer of a hook. Empty: Claude Code's own rules stay in force. */
export interface ClaudeHookOutput {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision: 'deny' | 'ask';
    permissionDecisionReason: string;
  };
}

/** A `HookCallbackMatcher` of the SDK, structurally. */
export interface ClaudeHookMatcher {
  hooks: ((input: unknown) => Promise<ClaudeHookOutput>)[];
  onFailure: 'block';
}

const events = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionDenied',
  'UserPromptSubmit',
  'SessionEnd',
] as const;

export type ClaudeHooks = { [Event in (typeof events)[number]]: ClaudeHookMatcher[] };

export interface GovernedQuery {
  readonly hooks: ClaudeHooks;
}

export interface GovernClaudeOptions<CanUseTool> extends GovernOptions {
  /** Your own function that asks your user: it gets the guard's questions too. Without it, or with `asks: 'holdfast'`, an ask is a denial. */
  readonly canUseTool?: CanUseTool;
}

type AnyCanUseTool = (name: string, input: Record<string, unknown>, options: never) => Promise<object | null>;

interface Permission {
  readonly behavior: 'allow' | 'deny';
  readonly message?: string;
  readonly updatedInput?: Record<string, unknown>;
}

/**
 * Governs every call of a `query` of the Claude Agent SDK, its built-in tools and sub-agents included:
 * `query({ prompt, options: { ...governQuery(guard, { canUseTool }) } })`, one guard for each query. A hook that fails blocks its call;
 * versions of Claude Code that cannot promise that refuse to start.
 */
export function governQuery(
  guard: ReleasingGuard,
  options?: GovernOptions & { readonly canUseTool?: undefined },
): GovernedQuery;
export function governQuery<CanUseTool extends AnyCanUseTool>(
  guard: ReleasingGuard,
  options: GovernClaudeOptions<CanUseTool>,
): GovernedQuery & { readonly canUseTool: CanUseTool };
export function governQuery<CanUseTool extends AnyCanUseTool>(
  guard: ReleasingGuard,
  { canUseTool, asks = 'framework', ...place }: GovernClaudeOptions<CanUseTool> = {},
): GovernedQuery & { readonly canUseTool?: CanUseTool } {
  const calls = new Map<string, GuardedCall>();
  const agent: Agent = {
    ...claudeCode,
    readHook(text) {
      const read = claudeCode.readHook(text);
      const { event } = read;
      if (event.type === 'after') calls.delete(event.call.id ?? '');
      if (event.type !== 'before') return read;
      const agentAsks = event.call.agentAsks === true && asks === 'framework' && canUseTool !== undefined;
      const call = { ...event.call, agent: 'claude-agent-sdk', ...place, agentAsks };
      calls.set(call.id ?? '', call);
      return { ...read, event: { type: 'before', call } };
    },
  };
  const hook = async (input: unknown): Promise<ClaudeHookOutput> => {
    const { stdout, stderr, exitCode } = await runHook(agent, JSON.stringify(input), () => Promise.resolve(guard));
    // The hook blocks the call when it throws, but this way the model gets the reason alone.
    if (exitCode === 2) return toDenial(stderr.trim());
    return stdout === '' ? {} : (JSON.parse(stdout) as ClaudeHookOutput);
  };
  const matcher = (): ClaudeHookMatcher[] => [{ hooks: [hook], onFailure: 'block' }];
  const hooks = Object.fromEntries(events.map((event) => [event, matcher()])) as ClaudeHooks;
  if (canUseTool === undefined) return { hooks };
  const given = canUseTool as unknown as (name: string, input: unknown, options: object) => Promise<Permission | null>;
  const answer = async (
    name: string,
    input: unknown,
    asked: { readonly toolUseID: string },
  ): Promise<Permission | null> => {
    const call = calls.get(asked.toolUseID);
    if (call === undefined)
      return { behavior: 'deny', message: `Holdfast was not asked about this call of \`${name}\`.` };
    const told = { ...call, id: asked.toolUseID };
    const permission = await given(name, input, asked);
    // Answered elsewhere.
    if (permission === null) return null;
    if (permission.behavior === 'deny') {
      const refused = await guard.refuse(told, permission.message);
      if (refused === undefined) await guard.after(told, { ok: 'not-run' });
      return permission;
    }
    const { updatedInput } = permission;
    if (!isPlainObject(updatedInput) || isSame(updatedInput, call.input)) return permission;
    // The person has changed it: another call.
    const changed = { ...told, input: JSON.parse(JSON.stringify(updatedInput)) as GuardedCall['input'] };
    calls.set(told.id, changed);
    const verdict = await guard.before(changed);
    if (verdict.type === 'deny') return { behavior: 'deny', message: verdict.reason };
    return verdict.type === 'allow' || call.agentAsks === true
      ? permission
      : { behavior: 'deny', message: describeWaiting(verdict.reason) };
  };
  return { hooks, canUseTool: answer as unknown as CanUseTool };
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function toDenial(permissionDecisionReason: string): ClaudeHookOutput {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason } };
}
