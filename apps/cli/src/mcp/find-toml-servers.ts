import { HoldfastError } from '@holdfast/core';
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import type { FoundServer, Place, Setting } from './find-servers.ts';

/** A key below `mcp_servers`, with its value. */
interface Entry {
  readonly path: readonly (string | number)[];
  /** The keys before the last one, as they are written: `a.b.` */
  readonly prefix: string;
  readonly node: AST.TOMLKeyValue;
}

/** The servers in Codex's `config.toml`. @throws HoldfastError `settings.invalid`. */
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
    const inside = (key: string): readonly Entry[] =>
      entries.filter(
        ({ path }) => path.length === 4 && path[0] === 'mcp_servers' && path[1] === name && path[2] === key,
      );
    return toServer(name, find, inside) ?? [];
  });
}

function parse(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (cause) {
    if (!(cause instanceof ParseError)) throw cause;
    throw new HoldfastError('settings.invalid', 'The settings are not TOML: they are left as they were.', {
      cause,
    });
  }
}

function listEntries(node: AST.TOMLKeyValue, above: readonly (string | number)[], text: string): readonly Entry[] {
  const { key, value } = node;
  const path = [...above, ...key.keys.map((one) => (one.type === 'TOMLBare' ? one.name : one.value))];
  const last = key.keys.at(-1)?.range[0] ?? key.range[0];
  const entry = { path, prefix: text.slice(key.range[0], last), node };
  if (value.type !== 'TOMLInlineTable') return [entry];
  return [entry, ...value.body.flatMap((inner) => listEntries(inner, path, text))];
}

function toServer(
  name: string,
  find: (key: string) => Entry | undefined,
  inside: (key: string) => readonly Entry[],
): FoundServer | undefined {
  const [command, args] = [find('command'), find('args')];
  if (command === undefined) return toRemote(name, find, inside);
  const [first, list] = [toPlace(command.node.value), args === undefined ? undefined : toPlace(args.node.value)];
  const words = [first, ...(list?.children ?? [])];
  const variables = toSetting(find('env_vars'));
  const passed = variables?.value.children ?? [];
  if ([...words, ...passed].some(({ type }) => type !== 'string') || (list !== undefined && list.type !== 'array')) {
    return { kind: 'remote', name };
  }
  const env = find('env');
  const keys = { command: keyOf(command), env: env === undefined ? undefined : keyOf(env) };
  const environment = [...inside('env').map(({ path }) => path[3]), ...passed.map(({ value }) => value)].map(String);
  const bareArgs = toBareArgs(command);
  const type = undefined;
  return { kind: 'started', name, command: first, args: list, words, bareArgs, keys, variables, type, environment };
}

/**
 * Codex hands a variable of its own to a program under the same name, so that a token moves. Headers from variables of other names do not:
 * such a server is left alone.
 */
function toRemote(
  name: string,
  find: (key: string) => Entry | undefined,
  inside: (key: string) => readonly Entry[],
): FoundServer | undefined {
  const url = find('url');
  if (url === undefined) return undefined;
  const place = toPlace(url.node.value);
  const headers = find('http_headers');
  const given = inside('http_headers');
  const canMove =
    (headers !== undefined || given.length === 0) &&
    given.every(({ path, node }) => /^[A-Za-z0-9-]+$/.test(String(path[3])) && toPlace(node.value).type === 'string');
  const bearer = toSetting(find('bearer_token_env_var'));
  const isToken = bearer === undefined || /^\w+$/.test(String(bearer.value.value));
  const isOther = ['env_http_headers', 'env', 'env_vars'].some(
    (key) => find(key) !== undefined || inside(key).length > 0,
  );
  if (place.type !== 'string' || !canMove || !isToken || isOther) return { kind: 'remote', name };
  const names = given.map(({ path }) => String(path[3]));
  const moved = headers === undefined ? undefined : { key: keyOf(headers), names };
  const bareArgs = toBareArgs(url);
  const reached = { key: keyOf(url), url: place, headers: moved, type: undefined, bearer, bareArgs };
  return { kind: 'remote', name, reached };
}

function toSetting(entry: Entry | undefined): Setting | undefined {
  return entry === undefined ? undefined : { key: keyOf(entry), value: toPlace(entry.node.value) };
}

/** Two spaces, as no person writes it. */
function toBareArgs({ node, prefix }: Entry): string {
  return `${node.parent.type === 'TOMLInlineTable' ? ', ' : '\n'}${prefix}args  = [`;
}

/** The last one, where several are written with dots. */
function keyOf({ node }: Entry): Place {
  const last = node.key.keys.at(-1) ?? node.key;
  const [from, to] = last.range;
  const value = last.type === 'TOMLBare' ? last.name : last.type === 'TOMLQuoted' ? last.value : undefined;
  return { offset: from, length: to - from, type: 'string', value };
}

function toPlace(node: AST.TOMLContentNode): Place & { readonly children?: Place['children'] } {
  const [from, to] = node.range;
  const range = { offset: from, length: to - from };
  if (node.type === 'TOMLArray') return { ...range, type: 'array', children: node.elements.map(toPlace) };
  if (node.type === 'TOMLValue' && node.kind === 'string') return { ...range, type: 'string', value: node.value };
  return { ...range, type: 'null' };
}
