import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { editModule, isModule, readModule } from './modules.ts';
import { type GuardHost, homeFolder } from './place.ts';

/** Where an agent's hooks stand, and for which of its events. */
interface Installation {
  /** Below the home, or below a project. */
  readonly file: string;
  /** Below a project, where that differs. */
  readonly projectFile?: string;
  /** The event whose answer decides a call. */
  readonly before: string;
  readonly events: readonly string[];
  /** Fields of a hook beside its command. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const timeout = 10;

export const installations: Readonly<Record<string, Installation>> = {
  'claude-code': {
    file: join('.claude', 'settings.json'),
    before: 'PreToolUse',
    events: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionDenied', 'UserPromptSubmit', 'SessionEnd'],
    // Without it Claude Code lets the call through when its hook fails; older versions do not know the field.
    fields: { timeout, onFailure: 'block' },
  },
  codex: {
    file: join('.codex', 'hooks.json'),
    before: 'PreToolUse',
    events: ['PreToolUse', 'PostToolUse', 'UserPromptSubmit'],
    fields: { timeout },
  },
  gemini: {
    file: join('.gemini', 'settings.json'),
    before: 'BeforeTool',
    events: ['BeforeTool', 'AfterTool', 'BeforeAgent', 'SessionEnd'],
    // In milliseconds there.
    fields: { name: 'holdfast', timeout: timeout * 1000 },
  },
  // A module of ours.
  pi: {
    file: join('.pi', 'agent', 'extensions', 'holdfast.js'),
    projectFile: join('.pi', 'extensions', 'holdfast.js'),
    before: 'tool_call',
    events: ['tool_call', 'tool_result', 'input', 'session_shutdown'],
    fields: {},
  },
};

export interface HookPlace {
  readonly agent: string;
  /** A folder of a project; absent: the user's own settings. */
  readonly project?: string | undefined;
}

export function settingsPath({ agent, project }: HookPlace, host: GuardHost): string {
  const { file = '', projectFile = file } = installations[agent] ?? {};
  return project === undefined ? join(homeFolder(host), file) : join(project, projectFile);
}

/** The name by which an installed hook is told from others. */
const mark = 'guard-hook-main';

/**
 * The command that an agent's shell runs: Node.js and file by absolute paths, so that no folder has a say in it. Where these cannot
 * start, the shell itself denies the call; a prompt or a result is not kept back.
 */
export function hookCommand(agent: string, event: string, words: readonly string[]): string {
  const command = [...words, agent].map(quote).join(' ');
  const denial = `{ echo "Holdfast's hook failed, so the call is denied." >&2; exit 2; }`;
  return event === installations[agent]?.before ? `${command} || ${denial}` : command;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** An entry of another program that may rewrite a call after it was decided. */
export interface OtherHook {
  readonly event: string;
  readonly command: string;
}

export interface Edited {
  /** The settings with our hooks in place of earlier ones of ours. */
  readonly text: string;
  readonly others: readonly OtherHook[];
}

/**
 * Settings with the hooks of a guard, which `words` start; without `words`: without them. Everything else stays as it is.
 *
 * @throws HoldfastError `guard.settings.invalid` for a file that is not settings; it is left alone.
 */
export function editSettings(text: string | undefined, agent: string, words: readonly string[] | undefined): Edited {
  if (isModule(agent)) return { text: editModule(text, agent, words), others: [] };
  const settings = readSettings(text, agent);
  const { hooks: found = {} } = settings;
  if (!isPlainObject(found)) throw invalid(agent, '`hooks` must be an object');
  const { events = [], fields = {} } = installations[agent] ?? {};
  const others: OtherHook[] = [];
  const hooks: Record<string, unknown> = {};
  for (const [event, groups] of Object.entries(found)) {
    if (!Array.isArray(groups)) throw invalid(agent, `\`hooks.${event}\` must be a list`);
    const kept = groups.flatMap((group) => withoutOurs(group, { event, others }));
    if (kept.length > 0 || groups.length === 0) hooks[event] = kept;
  }
  if (words !== undefined) {
    for (const event of events) {
      const groups = (hooks[event] as readonly unknown[] | undefined) ?? [];
      const command = hookCommand(agent, event, words);
      const own = { hooks: [{ type: 'command', command, ...fields }] };
      const matched = event.includes('Tool') || event === 'PermissionDenied' ? { matcher: '*', ...own } : own;
      hooks[event] = [...groups, matched];
    }
  }
  const { hooks: _, ...rest } = settings;
  const next =
    Object.keys(hooks).length === 0 && !('hooks' in settings && words === undefined && isEmpty(found))
      ? rest
      : { ...settings, hooks };
  return { text: `${JSON.stringify(next, undefined, indentOf(text))}\n`, others };
}

function isEmpty(hooks: object): boolean {
  return Object.keys(hooks).length === 0;
}

/** A group of hooks without ours; nothing where it had no other. */
function withoutOurs(
  group: unknown,
  { event, others }: { readonly event: string; readonly others: OtherHook[] },
): readonly unknown[] {
  if (!isPlainObject(group) || !Array.isArray(group['hooks'])) return [group];
  const hooks = group['hooks'].filter((hook) => !isOurs(hook));
  for (const hook of hooks)
    others.push({ event, command: String((hook as { command?: unknown } | null)?.command ?? 'a hook') });
  return hooks.length === 0 && group['hooks'].length > 0 ? [] : [{ ...group, hooks }];
}

function isOurs(hook: unknown): boolean {
  return isPlainObject(hook) && typeof hook['command'] === 'string' && hook['command'].includes(mark);
}

/** The commands of our hooks in a file, for each event. */
export function findHooks(text: string | undefined, agent: string): ReadonlyMap<string, readonly string[]> {
  if (isModule(agent)) {
    const words = readModule(text, agent);
    const events = words === undefined ? [] : (installations[agent]?.events ?? []);
    return new Map(events.map((event) => [event, [hookCommand(agent, event, words ?? [])]]));
  }
  const { hooks } = readSettings(text, agent);
  const found = new Map<string, readonly string[]>();
  for (const [event, groups] of Object.entries(isPlainObject(hooks) ? hooks : {})) {
    const inner = Array.isArray(groups) ? groups.flatMap((group) => (isPlainObject(group) ? group['hooks'] : [])) : [];
    const own = inner.filter(isOurs).map((hook) => String((hook as { command: unknown }).command));
    if (own.length > 0) found.set(event, own);
  }
  return found;
}

function readSettings(text: string | undefined, agent: string): Readonly<Record<string, unknown>> {
  if (text === undefined || text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw invalid(agent, thrown instanceof Error ? thrown.message : 'it is not JSON');
  }
  if (!isPlainObject(value)) throw invalid(agent, 'it must hold an object');
  return value;
}

function indentOf(text: string | undefined): string | number {
  return /^\{\r?\n([ \t]+)/.exec(text ?? '')?.[1] ?? 2;
}

function invalid(agent: string, problem: string): HoldfastError {
  const file = installations[agent]?.file ?? 'the settings';
  const message = `Cannot edit \`${file}\` of ${agent}: ${problem}. Correct the file, then try again.`;
  return new HoldfastError('guard.settings.invalid', message, { data: { agent, file } });
}
