import {
  allow,
  type CallFacts,
  type Decision,
  definePolicy,
  deny,
  type Json,
  type Place,
  type Policy,
} from '@holdfast/core';
import type { Command, Unclear } from '@holdfast/core/types';

export interface GuardSelfOptions {
  /** Files and folders of the guard and of the agents' settings, absolute, links resolved. */
  readonly paths: readonly string[];
  /** Names of settings that hold in any folder: `.claude/settings.json`. */
  readonly settings?: readonly string[];
  /** Ids of the guard's processes: no call may stop one. */
  readonly processes?: readonly number[];
  /** Ports of this machine on which the guard answers its hooks: no call may reach one. */
  readonly ports?: readonly number[];
}

/** Settings of agents and of Holdfast that a workspace may have: who changes them can switch a guard off. */
const agentSettings: readonly string[] = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks',
  '.claude/plugins',
  '.codex',
  '.gemini/settings.json',
  '.gemini/extensions',
  '.cursor/hooks.json',
  '.github/hooks',
  '.github/copilot',
  '.copilot/hooks',
  '.copilot/settings.json',
  '.opencode/plugin',
  '.opencode/plugins',
  'opencode.json',
  'opencode.jsonc',
  '.pi/extensions',
  '.pi/settings.json',
  '.pi/agent/extensions',
  '.pi/agent/settings.json',
  'holdfast-opencode',
  'holdfast-pi',
  'holdfast.policy.json',
  'holdfast.policy.yaml',
  'holdfast.policy.yml',
  'holdfast.config.ts',
  'holdfast.config.js',
  'holdfast.config.mjs',
  'holdfast.lock',
];

const itself = 'This would answer for the person, or change what guards this session. A person has to do it.';

/**
 * Keeps an agent from its own guard: Holdfast's commands, files and process, and the settings that hold its hooks. It reads facts, and
 * denies without them.
 */
export function guardSelf(options: GuardSelfOptions): Policy {
  const { paths, settings = agentSettings, processes = [], ports = [] } = options;
  const ids = new Set(processes.flatMap((id) => [String(id), String(-id)]));
  const folders = paths.map((path) => path.replace(/\/+$/, ''));
  const spellings = [...folders.flatMap(spell), ...ports.map((port) => `:${port}`)];
  const isOwn = (path: string): boolean => folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
  const isSettings = (path: string): boolean => {
    const folded = `${path.toLowerCase()}/`;
    return settings.some((name) => folded.includes(`/${name.toLowerCase()}/`));
  };
  return definePolicy({
    name: 'guard-self',
    check({ facts, input }): Decision {
      if (facts === undefined) return refused('Nothing is known of what this call would do.');
      const changed = [...facts.writes, ...facts.deletes].find((place) => isOwn(place.path) || isSettings(place.path));
      if (changed !== undefined || around(facts, folders)) return refused(itself);
      if (facts.hosts.some(({ host, port }) => port !== undefined && ports.includes(port) && isLoopback(host)))
        return refused(itself);
      if (facts.reads.some(({ path }) => isOwn(path) && !isSettings(path))) return refused(itself);
      // A program that is not known may run what its words say.
      const runsWords = facts.unclear.some(({ kind }) => kind === 'program' || kind === 'code');
      const touches = (command: Command): boolean =>
        touchesHoldfast(command, runsWords) ||
        (restores(command) && command.arguments.some((word) => isSettings(`/${word}`)));
      if (facts.runs.some(touches) || stops(facts, ids)) return refused(itself);
      return mayUse(facts, input, spellings) ? refused(itself) : allow;
    },
  });
}

function refused(reason: string): Decision {
  return deny(reason, { code: 'guard.self' });
}

/** A folder that has one of them in it is changed as a whole. */
function around({ writes, deletes }: CallFacts, folders: readonly string[]): boolean {
  const holds = ({ path, recursive }: Place): boolean =>
    recursive !== undefined && folders.some((folder) => folder.startsWith(path === '/' ? path : `${path}/`));
  return [...writes, ...deletes].some(holds);
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){0,3}|0(?:\.0){0,3}|\[?(?:::1?|::ffff:[\d.:a-f]+)\]?)$/.test(host);
}

/** As a program may name a file: in full, or from a folder of the home on, which code joins to the rest. */
function spell(path: string): readonly string[] {
  const below = path.indexOf('/.');
  return below === -1 ? [path] : [path, path.slice(below + 1)];
}

const unread: ReadonlySet<Unclear['kind']> = new Set(['program', 'code', 'tool', 'syntax']);

/** True for a program, a program text or a tool that cannot be read and names one of the files, such as a socket. */
function mayUse({ runs, unclear }: CallFacts, input: Json, spellings: readonly string[]): boolean {
  if (!unclear.some(({ kind }) => unread.has(kind))) return false;
  const names = (text: string): boolean => spellings.some((spelling) => text.includes(spelling));
  return (
    runs.some(({ arguments: words }) => words.some((word) => word !== null && names(word))) || hasText(input, names)
  );
}

function hasText(value: Json, matches: (text: string) => boolean): boolean {
  if (typeof value === 'string') return matches(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((item) => hasText(item, matches));
}

const stopping: ReadonlySet<string> = new Set(['kill', 'pkill', 'killall', 'skill', 'xkill', 'taskkill']);
const finding: ReadonlySet<string> = new Set(['pgrep', 'pidof', 'ps', 'grep']);

/** True if a line stops one of these processes, or one that it finds by the name of the guard: `kill $(pgrep holdfast)`. */
function stops({ runs }: CallFacts, ids: ReadonlySet<string>): boolean {
  const stoppers = runs.filter(({ program }) => stopping.has(nameOf(program)));
  if (stoppers.some(({ arguments: words }) => words.some((word) => word !== null && ids.has(word)))) return true;
  const named = runs.filter(({ program }) => stopping.has(nameOf(program)) || finding.has(nameOf(program)));
  return stoppers.length > 0 && named.some(({ arguments: words }) => words.some(namesGuard));
}

function namesGuard(word: string | null): boolean {
  return word !== null && /holdfast|guard-hook/i.test(word);
}

/** A mention that some program could run: `holdfast approve`, `holdfast@latest`. */
const mention = /(?:^|[\s/;&|'"(`])holdfast(?:@[\w.^~-]+)?(?:\s|$)/i;

function touchesHoldfast({ program, arguments: words, environment }: Command, runsWords: boolean): boolean {
  if (environment.some((name) => name.startsWith('HOLDFAST_'))) return true;
  if (words.some((word) => word?.startsWith('HOLDFAST_') === true && word.includes('='))) return true;
  const name = nameOf(program);
  if (name === 'holdfast') return !isReportingRun(words);
  return runsWords && words.some((word) => word !== null && mention.test(word));
}

/** Git, where it takes a file from its history. */
function restores({ program, arguments: words }: Command): boolean {
  return nameOf(program) === 'git' && words.some((word) => word === 'checkout' || word === 'restore');
}

function nameOf(program: string): string {
  const name = program.split(/[\\/]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:cmd|exe|js|mjs|ps1)$/, '');
}

/** `holdfast guard run -- COMMAND` reports how a command went; the command itself is judged by its own facts. */
function isReportingRun([group, verb, dashes]: readonly (string | null)[]): boolean {
  return group === 'guard' && verb === 'run' && dashes === '--';
}
