import { type FoundServer, findServers, type Place, type RemoteServer, type StartedServer } from './find-servers.ts';
import { findTomlServers } from './find-toml-servers.ts';

/** The state of one server in a client's settings. */
export interface SettingsEntry {
  readonly name: string;
  readonly state: 'changed' | 'unchanged' | 'remote';
}

export interface EditedSettings {
  readonly text: string;
  readonly entries: readonly SettingsEntry[];
}

export type SettingsFormat = 'json' | 'toml';

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface WrapSettings {
  readonly format: SettingsFormat;
  /** True for the user's own settings: the pins of their servers are in the user's lock. */
  readonly user: boolean;
}

/**
 * Puts `program` with `mcp wrap` in front of the command of each server, and in place of an address. Nothing else moves: comments, order,
 * unknown keys, environments and variables stay as they are written.
 *
 * @throws HoldfastError `settings.invalid`.
 */
export function wrapServers(text: string, program: readonly string[], { format, user }: WrapSettings): EditedSettings {
  const [head = '', ...before] = program;
  return editServers(text, format, (server) => {
    const named = ['--name', toServerName(server.name), ...(user ? ['--user'] : [])];
    const wrap = [...before, 'mcp', 'wrap'];
    if (server.kind === 'remote') return reachAddress(text, server, { head, wrap, named, format });
    if (findWrapped(server) !== undefined || findAddress(server) !== undefined) return undefined;
    const variables = server.environment.flatMap((name) => ['--env', name]);
    return replaceHead(text, server, { head, rest: [...wrap, ...named, ...variables, '--'] });
  });
}

/** Removes `mcp wrap`; a file that was not changed since is equal to the original. @throws HoldfastError `settings.invalid`. */
export function unwrapServers(text: string, format: SettingsFormat = 'json'): EditedSettings {
  return editServers(text, format, (server) => {
    if (server.kind === 'remote') return undefined;
    const own = findWrapped(server);
    if (own !== undefined) return restoreHead(text, server, own);
    const address = findAddress(server);
    return address === undefined ? undefined : restoreAddress(text, server, { ...address, format });
  });
}

/** The server's own command behind our words, which a person may have written with other flags. */
function findWrapped({ words }: StartedServer): Place | undefined {
  const at = findWrap(words);
  const end = at === -1 ? -1 : words.findIndex(({ value }, index) => index >= at + 2 && value === '--');
  return end === -1 ? undefined : words[end + 1];
}

/** The address among our words. Where it is `httpUrl` it stands in front of the name, else at the end. */
function findAddress({ words }: StartedServer): { readonly url: Place; readonly isHttpUrl: boolean } | undefined {
  const at = findWrap(words);
  if (at === -1 || words.some(({ value }) => value === '--')) return undefined;
  const [flag, first] = [words[at + 2], words[at + 3]];
  if (flag?.value === '--url' && first !== undefined) return { url: first, isHttpUrl: true };
  const last = words.at(-1);
  return words.at(-2)?.value === '--url' && last !== undefined ? { url: last, isHttpUrl: false } : undefined;
}

function findWrap(words: readonly Place[]): number {
  return words.findIndex(({ value }, index) => index > 0 && value === 'mcp' && words[index + 1]?.value === 'wrap');
}

/** Our name for a server: short, and of the letters that names of tools have. */
function toServerName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .slice(0, 24);
  return plain === '' ? 'server' : plain;
}

function editServers(
  text: string,
  format: SettingsFormat,
  edit: (server: FoundServer) => readonly Edit[] | undefined,
): EditedSettings {
  const entries: SettingsEntry[] = [];
  const edits: Edit[] = [];
  for (const server of format === 'toml' ? findTomlServers(text) : findServers(text)) {
    const made = edit(server);
    const { name, kind } = server;
    entries.push({ name, state: made !== undefined ? 'changed' : kind === 'remote' ? 'remote' : 'unchanged' });
    edits.push(...(made ?? []));
  }
  const edited = edits
    .toSorted((one, other) => other.from - one.from)
    .reduce((before, { from, to, text: put }) => before.slice(0, from) + put + before.slice(to), text);
  return { text: edited, entries };
}

interface OurWords {
  readonly head: string;
  readonly rest: readonly string[];
}

/** The first word is replaced, and `rest` and the first word, as it was written, go in front of the others. */
function replaceHead(
  text: string,
  { command, args, bareArgs }: StartedServer,
  { head, rest }: OurWords,
): readonly Edit[] {
  const first = command.type === 'array' ? command.children?.[0] : command;
  if (first === undefined) return [];
  const words = [...rest.map((word) => JSON.stringify(word)), rawOf(text, first)].join(', ');
  const put = JSON.stringify(head);
  const { from, to } = rangeOf(first);
  if (command.type === 'array') return [{ from, to, text: `${put}, ${words}` }];
  if (args === undefined) return [{ from, to, text: `${put}${bareArgs}${words}]` }];
  const start = args.offset + 1;
  const isEmpty = (args.children ?? []).length === 0;
  return [
    { from, to, text: put },
    { from: start, to: start, text: isEmpty ? words : `${words}, ` },
  ];
}

/** The inverse: `own` is the server's first word, behind ours. */
function restoreHead(text: string, { command, args, bareArgs }: StartedServer, own: Place): readonly Edit[] {
  const put = rawOf(text, own);
  const { from, to } = rangeOf(command);
  if (command.type === 'array') {
    const first = command.children?.[0];
    return first === undefined ? [] : [{ from: first.offset, to: rangeOf(own).to, text: put }];
  }
  const words = args?.children ?? [];
  const [first] = words;
  if (args === undefined || first === undefined) return [];
  const at = words.findIndex(({ offset }) => offset === own.offset);
  if (at === words.length - 1 && text.startsWith(bareArgs, to)) return [{ from, to: rangeOf(args).to, text: put }];
  // With the comma and space that were put behind our words, or what an editor has made of them.
  const { to: behind } = rangeOf(own);
  const next = words[at + 1];
  const end = next === undefined ? behind : text.startsWith(', ', behind) ? behind + 2 : next.offset;
  return [
    { from, to, text: put },
    { from: first.offset, to: end, text: '' },
  ];
}

interface ReachWords {
  readonly head: string;
  readonly wrap: readonly string[];
  readonly named: readonly string[];
  readonly format: SettingsFormat;
}

/** Starts our program, which reaches the address; headers become the environment of the entry, where the client keeps them to itself. */
function reachAddress(
  text: string,
  { reached }: RemoteServer,
  { head, wrap, named, format }: ReachWords,
): readonly Edit[] | undefined {
  if (reached === undefined) return undefined;
  const { key, url, headers, type, bearer, bareArgs } = reached;
  const token = bearer === undefined ? [] : ['--bearer', String(bearer.value.value)];
  const flags = [...(headers?.names ?? []).flatMap((name) => ['--header', name]), ...token];
  const quote = (words: readonly string[]): readonly string[] => words.map((word) => JSON.stringify(word));
  const place = [JSON.stringify('--url'), rawOf(text, url)];
  const words =
    key.value === 'httpUrl'
      ? [...quote(wrap), ...place, ...quote([...named, ...flags])]
      : [...quote([...wrap, ...named, ...flags]), ...place];
  const list = words.join(', ');
  const first = JSON.stringify(head);
  const put = (name: string): string => (format === 'toml' ? name : JSON.stringify(name));
  const isOneList = bareArgs === undefined;
  return [
    { ...rangeOf(key), text: put('command') },
    { ...rangeOf(url), text: isOneList ? `[${first}, ${list}]` : `${first}${bareArgs}${list}]` },
    ...(headers === undefined ? [] : [{ ...rangeOf(headers.key), text: put(isOneList ? 'environment' : 'env') }]),
    ...(type === undefined ? [] : [{ ...rangeOf(type), text: put(isOneList ? 'local' : 'stdio') }]),
    ...(bearer === undefined
      ? []
      : [
          { ...rangeOf(bearer.key), text: put('env_vars') },
          { ...rangeOf(bearer.value), text: `[${rawOf(text, bearer.value)}]` },
        ]),
  ];
}

function restoreAddress(
  text: string,
  { command, args, words, keys, variables, type, bareArgs }: StartedServer,
  { url, isHttpUrl, format }: { readonly url: Place; readonly isHttpUrl: boolean; readonly format: SettingsFormat },
): readonly Edit[] {
  const isOneList = command.type === 'array';
  const between = args === undefined ? '' : text.slice(rangeOf(command).to, args.offset + 1);
  const isOurs = isOneList || spacesOut(between) === spacesOut(bareArgs);
  const [variable, ...more] = variables?.value.children ?? [];
  const hasBearer = words.some(({ value }) => value === '--bearer');
  // A list that a person has changed is theirs.
  if (!isOurs || keys.command === undefined || (hasBearer && (variable === undefined || more.length > 0))) return [];
  const hasHeaders = words.some(({ value }) => value === '--header') && keys.env !== undefined;
  const put = (name: string): string => (format === 'toml' ? name : JSON.stringify(name));
  const { to } = rangeOf(args ?? command);
  return [
    { ...rangeOf(keys.command), text: put(isHttpUrl ? 'httpUrl' : 'url') },
    { from: command.offset, to, text: rawOf(text, url) },
    ...(hasHeaders && keys.env !== undefined
      ? [{ ...rangeOf(keys.env), text: put(format === 'toml' ? 'http_headers' : 'headers') }]
      : []),
    ...(type === undefined ? [] : [{ ...rangeOf(type), text: put(isOneList ? 'remote' : 'http') }]),
    ...(!hasBearer || variables === undefined || variable === undefined
      ? []
      : [
          { ...rangeOf(variables.key), text: put('bearer_token_env_var') },
          { ...rangeOf(variables.value), text: rawOf(text, variable) },
        ]),
  ];
}

/** An editor writes lists and spaces again. */
function spacesOut(text: string): string {
  return text.replaceAll(/\s/g, '');
}

function rawOf(text: string, { offset, length }: Place): string {
  return text.slice(offset, offset + length);
}

function rangeOf({ offset, length }: Place): { readonly from: number; readonly to: number } {
  return { from: offset, to: offset + length };
}
