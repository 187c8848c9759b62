import { HoldfastError } from '@holdfast/core';
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser';

/** The state of one server in a client's settings. */
export interface SettingsEntry {
  readonly name: string;
  readonly state: 'changed' | 'unchanged' | 'remote';
}

export interface EditedSettings {
  readonly text: string;
  readonly entries: readonly SettingsEntry[];
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Puts `program` with `mcp wrap` in front of the command of each server. Nothing else moves: comments, order, unknown keys,
 * environments and variables stay as they are written. Servers at an address are left alone.
 *
 * @throws HoldfastError `mcp.settings.invalid`.
 */
export function wrapServers(text: string, program: readonly string[]): EditedSettings {
  return editServers(text, ({ name, words, place }) => {
    if (findWrapped(words.map(({ value }) => value as unknown)) !== undefined) return undefined;
    const [first, ...rest] = program;
    return replaceHead(text, place, {
      head: first ?? '',
      rest: [...rest, 'mcp', 'wrap', '--name', toServerName(name), '--'],
    });
  });
}

/** Takes `mcp wrap` out again, to the byte, whatever else was changed since. @throws HoldfastError `mcp.settings.invalid`. */
export function unwrapServers(text: string): EditedSettings {
  return editServers(text, ({ words, place }) => {
    const at = findWrapped(words.map(({ value }) => value as unknown));
    const own = at === undefined ? undefined : words[at];
    return own === undefined ? undefined : restoreHead(text, place, own);
  });
}

/** The position of the server's own command behind our words, which a person may have written with other flags. */
function findWrapped(words: readonly unknown[]): number | undefined {
  const at = words.findIndex((word, index) => index > 0 && word === 'mcp' && words[index + 1] === 'wrap');
  const end = at === -1 ? -1 : words.indexOf('--', at + 2);
  return end === -1 || end + 1 === words.length ? undefined : end + 1;
}

/** Our name for a server: short, and of the letters that names of tools have. */
function toServerName(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .slice(0, 24);
  return plain === '' ? 'server' : plain;
}

/** Where the words of a command stand: all in one list, or the first beside a list of the others. */
interface CommandPlace {
  readonly command: Node;
  readonly args: Node | undefined;
}

interface FoundServer {
  readonly name: string;
  readonly place: CommandPlace;
  readonly words: readonly Node[];
}

function editServers(text: string, edit: (server: FoundServer) => readonly Edit[] | undefined): EditedSettings {
  const entries: SettingsEntry[] = [];
  const edits: Edit[] = [];
  for (const { name, node } of findServers(parse(text))) {
    const server = toServer(name, node);
    const made = server === undefined ? undefined : edit(server);
    entries.push({ name, state: server === undefined ? 'remote' : made === undefined ? 'unchanged' : 'changed' });
    edits.push(...(made ?? []));
  }
  const edited = edits
    .toSorted((one, other) => other.from - one.from)
    .reduce((before, { from, to, text: put }) => before.slice(0, from) + put + before.slice(to), text);
  return { text: edited, entries };
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

/** Claude Code and most others, VS Code, opencode, and the projects of Claude Code's own file. */
const places: readonly (readonly string[])[] = [['mcpServers'], ['servers'], ['mcp'], ['mcp', 'servers']];

function findServers(tree: Node): readonly { readonly name: string; readonly node: Node }[] {
  const projects = membersOf(findNodeAtLocation(tree, ['projects']));
  const lists = [
    ...places.map((path) => findNodeAtLocation(tree, [...path])),
    ...projects.map(({ node }) => findNodeAtLocation(node, ['mcpServers'])),
  ];
  return lists.flatMap(membersOf).filter(({ node }) => isServer(node));
}

function isServer(node: Node): boolean {
  return ['command', 'url', 'httpUrl'].some((key) => findNodeAtLocation(node, [key]) !== undefined);
}

function membersOf(node: Node | undefined): readonly { readonly name: string; readonly node: Node }[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key === undefined || value?.type !== 'object' ? [] : [{ name: String(key.value), node: value }],
  );
}

function toServer(name: string, node: Node): FoundServer | undefined {
  const command = findNodeAtLocation(node, ['command']);
  const args = findNodeAtLocation(node, ['args']);
  if (command === undefined) return undefined;
  const words = command.type === 'array' ? (command.children ?? []) : [command, ...(args?.children ?? [])];
  const isText = words.length > 0 && words.every(({ type }) => type === 'string');
  return isText ? { name, place: { command, args: command.type === 'array' ? undefined : args }, words } : undefined;
}

/** Two spaces, as nobody writes it: a list that was not there before, and goes again. */
const bareArgs = ',  "args": [';

/** The first word is replaced, and `rest` and the first word, as it was written, go in front of the others. */
function replaceHead(
  text: string,
  { command, args }: CommandPlace,
  { head, rest }: { readonly head: string; readonly rest: readonly string[] },
): readonly Edit[] {
  const first = command.type === 'array' ? command.children?.[0] : command;
  if (first === undefined) return [];
  const own = rawOf(text, first);
  const words = [...rest.map((word) => JSON.stringify(word)), own].join(', ');
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
function restoreHead(text: string, { command, args }: CommandPlace, own: Node): readonly Edit[] {
  const put = rawOf(text, own);
  const { from, to } = rangeOf(command);
  if (command.type === 'array') {
    const first = command.children?.[0];
    return first === undefined ? [] : [{ from: first.offset, to: rangeOf(own).to, text: put }];
  }
  const first = args?.children?.[0];
  if (args === undefined || first === undefined) return [];
  const isLast = args.children?.at(-1) === own;
  if (isLast && text.startsWith(bareArgs, to)) return [{ from, to: rangeOf(args).to, text: put }];
  // With the comma and space that were put behind our words, or what an editor has made of them.
  const { to: behind } = rangeOf(own);
  const next = args.children?.[args.children.indexOf(own) + 1];
  const end = next === undefined ? behind : text.startsWith(', ', behind) ? behind + 2 : next.offset;
  return [
    { from, to, text: put },
    { from: first.offset, to: end, text: '' },
  ];
}

function rawOf(text: string, node: Node): string {
  return text.slice(node.offset, node.offset + node.length);
}

function rangeOf({ offset, length }: Node): { readonly from: number; readonly to: number } {
  return { from: offset, to: offset + length };
}
