import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { GuardHost } from '../user/guard-folder.ts';
import { type HttpPlace, isHttpHookUrl, toHttpHook } from './http-place.ts';
import { editModule, isModule, readModule } from './modules.ts';
import { configFolder, homeFolder } from './place.ts';

/** Where an agent's hooks stand, and for which of its events. */
interface Installation {
  /** Below the home, or below a project. */
  readonly file: string;
  /** `file` is below `XDG_CONFIG_HOME`, or `.config` of the home. */
  readonly inConfig?: boolean;
  /** Below a project, where that differs. */
  readonly projectFile?: string;
  /** The event whose answer decides a call. */
  readonly before: string;
  readonly events: readonly string[];
  /** Fields of a hook beside its command. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** And of the hook that decides. */
  readonly beforeFields?: Readonly<Record<string, unknown>>;
  /** For the agents that can send events by HTTP: those. */
  readonly byHttp?: readonly string[];
  /** Its hooks can hold a question open. */
  readonly holds?: boolean;
  /** For the agents whose hooks stand in no groups: the field of the command, and what the file has beside its hooks. */
  readonly flat?: { readonly command: 'command' | 'bash'; readonly file: Readonly<Record<string, unknown>> };
}

/** The form of the hooks, beside the words that start them. */
export interface HookForm {
  /** For how many seconds the hook of a call holds a question open. */
  readonly waitSeconds?: number | undefined;
  /** Sends calls and results to the daemon by HTTP. */
  readonly http?: HttpPlace | undefined;
  /** For the hooks of a plugin: the agent's variable for its folder, in which the hook's file lies. */
  readonly root?: string | undefined;
}

/** In seconds. A hook answers within 8 of them, and what it waits. */
const timeout = 10;

function timeoutFor(waitSeconds: number): number {
  return Math.ceil((waitSeconds + 8) / 0.8);
}

export const installations: Readonly<Record<string, Installation>> = {
  'claude-code': {
    file: join('.claude', 'settings.json'),
    before: 'PreToolUse',
    events: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionDenied', 'UserPromptSubmit', 'SessionEnd'],
    // Without it Claude Code lets the call through when its hook fails; older versions do not know the field.
    fields: { timeout, onFailure: 'block' },
    byHttp: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionDenied'],
    holds: true,
  },
  codex: {
    file: join('.codex', 'hooks.json'),
    before: 'PreToolUse',
    events: ['PreToolUse', 'PostToolUse', 'UserPromptSubmit'],
    fields: { timeout },
    holds: true,
  },
  gemini: {
    file: join('.gemini', 'settings.json'),
    before: 'BeforeTool',
    events: ['BeforeTool', 'AfterTool', 'BeforeAgent', 'SessionEnd'],
    // In milliseconds there.
    fields: { name: 'holdfast', timeout: timeout * 1000 },
  },
  cursor: {
    file: join('.cursor', 'hooks.json'),
    before: 'preToolUse',
    events: ['preToolUse', 'postToolUse', 'postToolUseFailure', 'beforeSubmitPrompt', 'sessionEnd'],
    fields: { timeout },
    // Without it Cursor lets the call through when its hook fails.
    beforeFields: { failClosed: true },
    flat: { command: 'command', file: { version: 1 } },
  },
  copilot: {
    file: join('.copilot', 'hooks', 'holdfast.json'),
    projectFile: join('.github', 'hooks', 'holdfast.json'),
    before: 'PreToolUse',
    events: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionEnd'],
    fields: { type: 'command', timeoutSec: timeout },
    flat: { command: 'bash', file: { version: 1 } },
  },
  // A module of ours.
  opencode: {
    file: join('opencode', 'plugin', 'holdfast.js'),
    inConfig: true,
    projectFile: join('.opencode', 'plugin', 'holdfast.js'),
    before: 'tool.execute.before',
    events: ['tool.execute.before', 'tool.execute.after', 'chat.message', 'dispose'],
    fields: {},
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
  const { file = '', projectFile = file, inConfig = false } = installations[agent] ?? {};
  if (project !== undefined) return join(project, projectFile);
  return join(inConfig ? configFolder(host) : homeFolder(host), file);
}

/** The name by which an installed hook is told from others. */
const mark = 'guard-hook-main';

/**
 * The command that an agent's shell runs: Node.js and file by absolute paths, so that no folder has a say in it. Where these cannot
 * start, the shell itself denies the call; a prompt or a result is not kept back.
 */
export function hookCommand(
  agent: string,
  event: string,
  words: readonly string[],
  { waitSeconds = 0, root }: HookForm = {},
): string {
  const flags = root === undefined ? [] : ['--plugin'];
  if (event === 'PreToolUse' && waitSeconds > 0) flags.push(`--wait=${waitSeconds}`);
  const program = words.map((word) => (root !== undefined && word.includes(mark) ? `"${root}/${word}"` : quote(word)));
  const command = [...program, ...[agent, ...flags].map(quote)].join(' ');
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
 * @throws HoldfastError `settings.invalid` for a file that is not settings; it is left alone.
 */
export function editSettings(
  text: string | undefined,
  agent: string,
  words: readonly string[] | undefined,
  form: HookForm = {},
): Edited {
  if (isModule(agent)) return { text: editModule(text, agent, words), others: [] };
  const settings = readSettings(text, agent);
  const { hooks: found = {} } = settings;
  if (!isPlainObject(found)) throw invalid(agent, '`hooks` must be an object');
  const others: OtherHook[] = [];
  const hooks: Record<string, unknown> = {};
  const { flat } = installations[agent] ?? {};
  for (const [event, listed] of Object.entries(found)) {
    if (!Array.isArray(listed)) throw invalid(agent, `\`hooks.${event}\` must be a list`);
    const groups = flat === undefined ? listed : listed.length === 0 ? [] : [{ hooks: listed }];
    const left = groups.flatMap((group) => withoutOurs(group, { event, others }));
    const kept = flat === undefined ? left : left.flatMap((group) => hooksOf(group));
    if (kept.length > 0 || groups.length === 0) hooks[event] = kept;
  }
  if (words !== undefined) {
    for (const event of eventsOf(agent, form)) {
      const groups = (hooks[event] as readonly unknown[] | undefined) ?? [];
      const hook = toHook(agent, event, words, form);
      const isMatched = event.includes('Tool') || event === 'PermissionDenied';
      const own = { ...(isMatched ? { matcher: '*' } : {}), hooks: [hook] };
      hooks[event] = [...groups, flat === undefined ? own : hook];
    }
  }
  const { hooks: _, ...rest } = words === undefined ? settings : { ...flat?.file, ...settings };
  const next =
    Object.keys(hooks).length === 0 && !('hooks' in settings && words === undefined && isEmpty(found))
      ? rest
      : { ...rest, hooks };
  return { text: `${JSON.stringify(next, undefined, indentOf(text))}\n`, others };
}

/** Hooks by HTTP need a daemon, which the hook at the start of a session starts. */
export function eventsOf(agent: string, { http }: HookForm): readonly string[] {
  const { events = [] } = installations[agent] ?? {};
  return http === undefined ? events : ['SessionStart', ...events];
}

function toHook(
  agent: string,
  event: string,
  words: readonly string[],
  form: HookForm,
): Readonly<Record<string, unknown>> {
  const { waitSeconds = 0, http } = form;
  const { before, fields: common = {}, beforeFields = {}, byHttp = [], flat } = installations[agent] ?? {};
  const fields = event === before ? { ...common, ...beforeFields } : common;
  const waits = event === 'PreToolUse' ? waitSeconds : 0;
  const timed = waits === 0 ? fields : { ...fields, timeout: timeoutFor(waits) };
  if (flat !== undefined) return { [flat.command]: hookCommand(agent, event, words, form), ...fields };
  if (http === undefined || !byHttp.includes(event))
    return { type: 'command', command: hookCommand(agent, event, words, form), ...timed };
  const { url, ...rest } = toHttpHook(agent, http);
  return { ...rest, url: waits === 0 ? url : `${url}?wait=${waits}`, ...timed };
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
  for (const hook of hooks) others.push({ event, command: commandOf(hook) ?? 'a hook' });
  return hooks.length === 0 && group['hooks'].length > 0 ? [] : [{ ...group, hooks }];
}

function isOurs(hook: unknown): boolean {
  return textOf(hook) !== undefined;
}

/** The command or URL of a hook of ours. */
function textOf(hook: unknown): string | undefined {
  if (!isPlainObject(hook)) return undefined;
  const { url } = hook;
  if (typeof url === 'string' && isHttpHookUrl(url)) return url;
  const command = commandOf(hook);
  return command?.includes(mark) === true ? command : undefined;
}

function commandOf(hook: unknown): string | undefined {
  if (!isPlainObject(hook)) return undefined;
  return [hook['command'], hook['bash']].find((command) => typeof command === 'string');
}

/** The hooks of a group; a hook that stands in none is its own. */
function hooksOf(group: unknown): readonly unknown[] {
  if (!isPlainObject(group)) return [];
  return Array.isArray(group['hooks']) ? group['hooks'] : [group];
}

/** The commands of our hooks in a file, or their URLs, for each event. */
export function findHooks(text: string | undefined, agent: string): ReadonlyMap<string, readonly string[]> {
  if (isModule(agent)) {
    const words = readModule(text, agent);
    const events = words === undefined ? [] : (installations[agent]?.events ?? []);
    return new Map(events.map((event) => [event, [hookCommand(agent, event, words ?? [])]]));
  }
  const { hooks } = readSettings(text, agent);
  const found = new Map<string, readonly string[]>();
  for (const [event, groups] of Object.entries(isPlainObject(hooks) ? hooks : {})) {
    const inner = Array.isArray(groups) ? groups.flatMap(hooksOf) : [];
    const own = inner.flatMap((hook) => textOf(hook) ?? []);
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
  return new HoldfastError('settings.invalid', message, { data: { agent, file } });
}
