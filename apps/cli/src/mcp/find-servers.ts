import { HoldfastError } from '@holdfast/core';
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A text in a file of settings, or a list of texts: where it stands. */
export type Place = Pick<Node, 'offset' | 'length' | 'value' | 'children' | 'type'>;

export interface Setting {
  readonly key: Place;
  readonly value: Place;
}

/** A server that is started as a program. */
export interface StartedServer {
  readonly kind: 'started';
  readonly name: string;
  /** A text, or a list of all words. */
  readonly command: Place;
  readonly args: Place | undefined;
  /** Every word of the command. */
  readonly words: readonly Place[];
  /** Begins a list of arguments where there is none. No person writes it with two spaces, so it can be told and taken out again. */
  readonly bareArgs: string;
  /** The keys that differ for a server at an address. */
  readonly keys: { readonly command: Place | undefined; readonly env: Place | undefined };
  /** Codex's list of variables of its own that the program gets. */
  readonly variables?: Setting | undefined;
  readonly type: Place | undefined;
  /** Names of the variables that its client sets for it. */
  readonly environment: readonly string[];
}

/** A server at an address. */
export interface RemoteServer {
  readonly kind: 'remote';
  readonly name: string;
  /** Absent for a server that `mcp wrap` cannot reach in the client's stead. */
  readonly reached?: {
    readonly key: Place;
    readonly url: Place;
    readonly headers: { readonly key: Place; readonly names: readonly string[] } | undefined;
    readonly type: Place | undefined;
    /** Codex's name of a variable of its own that has a token. */
    readonly bearer?: Setting | undefined;
    /** How a program is written in place of the address: a text and a list behind it, which `bareArgs` begins, or one list. */
    readonly bareArgs: string | undefined;
  };
}

export type FoundServer = StartedServer | RemoteServer;

/** Claude Code and most others, VS Code, opencode, and the projects of Claude Code's own file. */
const places: readonly (readonly string[])[] = [['mcpServers'], ['servers'], ['mcp'], ['mcp', 'servers']];

/** The servers in settings that are JSON with comments. @throws HoldfastError `settings.invalid`. */
export function findServers(text: string): readonly FoundServer[] {
  const tree = parse(text);
  const projects = membersOf(findNodeAtLocation(tree, ['projects']));
  const lists = [
    ...places.map((path) => findNodeAtLocation(tree, [...path])),
    ...projects.map(({ node }) => findNodeAtLocation(node, ['mcpServers'])),
  ];
  return lists.flatMap(membersOf).flatMap(({ name, node }) => toServer(name, node) ?? []);
}

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (tree?.type === 'object' && errors.length === 0) return tree;
  throw new HoldfastError('settings.invalid', 'The settings are not JSON with comments: they are left as they were.');
}

function membersOf(node: Node | undefined): readonly { readonly name: string; readonly node: Node }[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key === undefined || value?.type !== 'object' ? [] : [{ name: String(key.value), node: value }],
  );
}

function toServer(name: string, node: Node): FoundServer | undefined {
  const at = (key: string): Node | undefined => findNodeAtLocation(node, [key]);
  const command = at('command');
  const args = at('args');
  const type = at('type');
  if (command === undefined) {
    const hasAddress = ['url', 'httpUrl'].some((key) => at(key) !== undefined);
    return hasAddress ? toRemote(name, node) : undefined;
  }
  const words = command.type === 'array' ? (command.children ?? []) : [command, ...(args?.children ?? [])];
  // Not a command that could be started: it is left alone.
  if (words.length === 0 || words.some(({ type: kind }) => kind !== 'string')) return { kind: 'remote', name };
  const env = at('env') ?? at('environment');
  const keys = { command: keyOf(command), env: keyOf(env) };
  const list = command.type === 'array' ? undefined : args;
  const environment = namesOf(env);
  return { kind: 'started', name, command, args: list, words, bareArgs: jsonArgs, keys, type, environment };
}

const jsonArgs = ',  "args": [';

function namesOf(node: Node | undefined): readonly string[] {
  return node?.type === 'object' ? (node.children ?? []).map(({ children: [key] = [] }) => String(key?.value)) : [];
}

function toRemote(name: string, node: Node): RemoteServer {
  const at = (key: string): Node | undefined => findNodeAtLocation(node, [key]);
  const [headers, type] = [at('headers'), at('type')];
  const url = at('url') ?? at('httpUrl');
  const key = keyOf(url);
  const names = namesOf(headers);
  const canMove =
    names.every((one) => /^[A-Za-z0-9-]+$/.test(one)) &&
    (headers?.children ?? []).every(({ children }) => children?.[1]?.type === 'string');
  // Clients try HTTP first where an entry has no type, and fall back to server-sent events: an address that is named after those is left alone.
  const isPlain =
    type === undefined
      ? key?.value === 'httpUrl' || !/\/sse\/?(?:[?#]|$)/.test(String(url?.value))
      : type.value === 'http' || type.value === 'remote';
  // Its environment would be that of a program, and other kinds of addresses are other protocols.
  const cannot =
    at('env') !== undefined || (at('url') !== undefined && at('httpUrl') !== undefined) || !isPlain || !canMove;
  if (url?.type !== 'string' || key === undefined || cannot) return { kind: 'remote', name };
  const headerKey = keyOf(headers);
  const bareArgs = type?.value === 'remote' ? undefined : jsonArgs;
  const moved = headerKey === undefined ? undefined : { key: headerKey, names };
  return { kind: 'remote', name, reached: { key, url, headers: moved, type, bareArgs } };
}

function keyOf(value: Node | undefined): Node | undefined {
  return value?.parent?.children?.[0];
}
