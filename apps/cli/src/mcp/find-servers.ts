import { HoldfastError } from '@holdfast/core';
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A text in a file of settings, or a list of texts: where it stands. */
export type Place = Pick<Node, 'offset' | 'length' | 'value' | 'children' | 'type'>;

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
  readonly type: Place | undefined;
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
  };
}

export type FoundServer = StartedServer | RemoteServer;

/** Claude Code and most others, VS Code, opencode, and the projects of Claude Code's own file. */
const places: readonly (readonly string[])[] = [['mcpServers'], ['servers'], ['mcp'], ['mcp', 'servers']];

/**
 * The servers in settings that are JSON with comments. `needsType`: only a server that says it speaks HTTP is reached.
 *
 * @throws HoldfastError `mcp.settings.invalid`.
 */
export function findServers(text: string, { needsType }: { readonly needsType: boolean }): readonly FoundServer[] {
  const tree = parse(text);
  const projects = membersOf(findNodeAtLocation(tree, ['projects']));
  const lists = [
    ...places.map((path) => findNodeAtLocation(tree, [...path])),
    ...projects.map(({ node }) => findNodeAtLocation(node, ['mcpServers'])),
  ];
  return lists.flatMap(membersOf).flatMap(({ name, node }) => toServer(name, node, needsType) ?? []);
}

function parse(text: string): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (tree?.type === 'object' && errors.length === 0) return tree;
  throw new HoldfastError(
    'mcp.settings.invalid',
    'The settings are not JSON with comments: they are left as they were.',
  );
}

function membersOf(node: Node | undefined): readonly { readonly name: string; readonly node: Node }[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key === undefined || value?.type !== 'object' ? [] : [{ name: String(key.value), node: value }],
  );
}

function toServer(name: string, node: Node, needsType: boolean): FoundServer | undefined {
  const at = (key: string): Node | undefined => findNodeAtLocation(node, [key]);
  const command = at('command');
  const args = at('args');
  const type = at('type');
  if (command === undefined) {
    const hasAddress = ['url', 'httpUrl'].some((key) => at(key) !== undefined);
    return hasAddress ? toRemote(name, node, needsType) : undefined;
  }
  const words = command.type === 'array' ? (command.children ?? []) : [command, ...(args?.children ?? [])];
  // Not a command that could be started: it is left alone.
  if (words.length === 0 || words.some(({ type: kind }) => kind !== 'string')) return { kind: 'remote', name };
  const keys = { command: keyOf(command), env: keyOf(at('env')) };
  const list = command.type === 'array' ? undefined : args;
  return { kind: 'started', name, command, args: list, words, bareArgs: ',  "args": [', keys, type };
}

function toRemote(name: string, node: Node, needsType: boolean): RemoteServer {
  const at = (key: string): Node | undefined => findNodeAtLocation(node, [key]);
  const [url, headers, type] = [at('url'), at('headers'), at('type')];
  const key = keyOf(url);
  const values = headers?.type === 'object' ? (headers.children ?? []) : [];
  const names = values.map(({ children: [one] = [] }) => String(one?.value));
  const canMove =
    names.every((one) => /^[A-Za-z0-9-]+$/.test(one)) &&
    values.every(({ children }) => children?.[1]?.type === 'string');
  const isPlain = type === undefined ? !needsType : type.value === 'http';
  // Its environment would be that of a program, and other kinds of addresses are other protocols.
  const cannot = at('env') !== undefined || at('httpUrl') !== undefined || !isPlain || !canMove;
  if (url?.type !== 'string' || key === undefined || cannot) return { kind: 'remote', name };
  const headerKey = keyOf(headers);
  return {
    kind: 'remote',
    name,
    reached: { key, url, headers: headerKey === undefined ? undefined : { key: headerKey, names }, type },
  };
}

function keyOf(value: Node | undefined): Node | undefined {
  return value?.parent?.children?.[0];
}
