import type { PreparedCall } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Kind } from './forms.ts';
import type { ProvenanceOptions } from './options.ts';

/** A value that decides where a call goes. */
export interface DecidingValue {
  /** The argument, or the fact. */
  readonly from: string;
  readonly kind: Kind;
  readonly value: string | number;
  /** The only fields of results that it may come from, as `list_files.id`. */
  readonly fields?: readonly string[];
}

/** The values that decide where a call goes: those the host named for the tool, else those of telling arguments; and what its facts say. */
export function decidingValues(call: PreparedCall, options: ProvenanceOptions): readonly DecidingValue[] {
  const decides = configured(options, call.tool.name)?.decides;
  const found: DecidingValue[] = [];
  if (decides !== undefined) {
    for (const [path, how] of Object.entries(decides)) {
      const { kind, from: fields } = typeof how === 'string' ? { kind: how, from: undefined } : how;
      const values: DecidingValue[] = [];
      for (const value of valuesAt(call.input, path.split('.'))) add(values, path, kind, value);
      found.push(...(fields === undefined ? values : values.map((value) => ({ ...value, fields }))));
    }
  } else collectByName(call.input, call.tool.effects === 'none' ? addressNames : allNames, '', found);
  const { hosts = [], writes = [], deletes = [] } = call.facts ?? {};
  for (const { host, sends } of hosts) if (sends) found.push({ from: 'its host', kind: 'host', value: host });
  for (const { path, inside } of [...writes, ...deletes])
    if (!inside) found.push({ from: 'its path', kind: 'path', value: path });
  return found;
}

/** Words of requests that call for the tool. */
export function wordsFor(options: ProvenanceOptions, name: string): readonly string[] {
  return configured(options, name)?.words ?? [name.split(/[_-]/u)[0] ?? name];
}

export function configured(
  { tools = {} }: ProvenanceOptions,
  name: string,
): NonNullable<ProvenanceOptions['tools']>[string] | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

const addressNames: ReadonlyMap<string, Kind> = new Map([
  ...each('url uri href link endpoint webhook webhookurl callback callbackurl', 'url'),
  ...each('host hostname domain server', 'host'),
]);
const allNames: ReadonlyMap<string, Kind> = new Map([
  ...addressNames,
  ...each('email emails emailaddress mail cc bcc replyto', 'address'),
  ...each(
    'to recipient recipients participants attendees invitees sendto forwardto channel user username userid',
    'any',
  ),
  ...each('iban account accountnumber accountid bic', 'account'),
  ...each('phone phonenumber mobile', 'phone'),
]);

function each(names: string, kind: Kind): readonly (readonly [string, Kind])[] {
  return names.split(' ').map((name) => [name, kind]);
}

function collectByName(value: unknown, names: ReadonlyMap<string, Kind>, path: string, found: DecidingValue[]): void {
  if (Array.isArray(value)) for (const item of value) collectByName(item, names, path, found);
  else if (isPlainObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const inside = path === '' ? key : `${path}.${key}`;
      const kind = names.get(key.toLowerCase().replaceAll(/[^a-z]/gu, ''));
      if (kind === undefined) collectByName(inner, names, inside, found);
      else add(found, inside, kind, inner);
    }
  }
}

function* valuesAt(value: unknown, path: readonly string[]): Iterable<unknown> {
  const [key, ...rest] = path;
  if (Array.isArray(value)) for (const item of value) yield* valuesAt(item, path);
  else if (key === undefined) yield value;
  else if (isPlainObject(value) && Object.hasOwn(value, key)) yield* valuesAt(value[key], rest);
}

function add(found: DecidingValue[], from: string, kind: Kind, value: unknown): void {
  if (typeof value === 'number') found.push({ from, kind, value });
  else if (typeof value === 'string') {
    const parts = kind === 'address' || (kind === 'any' && value.includes('@')) ? value.split(/[,;]/u) : [value];
    for (const part of parts) if (part.trim() !== '') found.push({ from, kind, value: part.trim() });
  } else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) add(found, from, kind, inner);
}
