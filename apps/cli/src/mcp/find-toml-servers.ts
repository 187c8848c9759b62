import { HoldfastError } from '@holdfast/core';
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import type { FoundServer, Place } from './find-servers.ts';

/** A key below `mcp_servers`, with its value. */
interface Entry {
  readonly path: readonly (string | number)[];
  /** The keys before the last one, as they are written: `a.b.` */
  readonly prefix: string;
  readonly node: AST.TOMLKeyValue;
}

/** The servers in Codex's `config.toml`. @throws HoldfastError `mcp.settings.invalid`. */
export function findTomlServers(text: string): readonly FoundServer[] {
  const [top] = parse(text).body;
  const entries = top.body.flatMap((node) =>
    node.type === 'TOMLKeyValue'
      ? listEntries(node, [], text)
      : node.body.flatMap((inner) => listEntries(inner, node.resolvedKey, text)),
  );
  const names = new Set(entries.flatMap(({ path: [table, name] }) => (table === 'mcp_servers' ? [String(name)] : [])));
  return [...names].flatMap((name) => {
    const find = (key: string): Entry | undefined =>
      entries.find(({ path }) => path.length === 3 && path[0] === 'mcp_servers' && path[1] === name && path[2] === key);
    return toServer(name, find) ?? [];
  });
}

function parse(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (cause) {
    if (!(cause instanceof ParseError)) throw cause;
    throw new HoldfastError('mcp.settings.invalid', 'The settings are not TOML: they are left as they were.', {
      cause,
    });
  }
}

function listEntries(node: AST.TOMLKeyValue, above: readonly (string | number)[], text: string): readonly Entry[] {
  const { key, value } = node;
  const path = [...above, ...key.keys.map((one) => (one.type === 'TOMLBare' ? one.name : one.value))];
  if (value.type === 'TOMLInlineTable') return value.body.flatMap((inner) => listEntries(inner, path, text));
  const last = key.keys.at(-1)?.range[0] ?? key.range[0];
  return [{ path, prefix: text.slice(key.range[0], last), node }];
}

function toServer(name: string, find: (key: string) => Entry | undefined): FoundServer | undefined {
  const [command, args] = [find('command'), find('args')];
  if (command === undefined) return find('url') === undefined ? undefined : { kind: 'remote', name };
  const [first, list] = [toPlace(command.node.value), args === undefined ? undefined : toPlace(args.node.value)];
  const words = [first, ...(list?.children ?? [])];
  if (words.some(({ type }) => type !== 'string') || (list !== undefined && list.type !== 'array')) {
    return { kind: 'remote', name };
  }
  const isInline = command.node.parent.type === 'TOMLInlineTable';
  const bareArgs = `${isInline ? ', ' : '\n'}${command.prefix}args  = [`;
  const keys = { command: undefined, env: undefined };
  return { kind: 'started', name, command: first, args: list, words, bareArgs, keys, type: undefined };
}

function toPlace(node: AST.TOMLContentNode): Place & { readonly children?: Place['children'] } {
  const [from, to] = node.range;
  const range = { offset: from, length: to - from };
  if (node.type === 'TOMLArray') return { ...range, type: 'array', children: node.elements.map(toPlace) };
  if (node.type === 'TOMLValue' && node.kind === 'string') return { ...range, type: 'string', value: node.value };
  return { ...range, type: 'null' };
}
