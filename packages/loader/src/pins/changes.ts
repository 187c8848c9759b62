import { hash } from 'node:crypto';
import { type Json, toCanonicalJson } from '@holdfast/core';
import type { ToolMetadata } from '../check/types.ts';
import type { Closure } from '../imports/closure.ts';
import type { LockedTool } from './lock-file.ts';

/** One thing in which a tool is not as it is locked. `null`: it is not there. */
export interface LockChange {
  readonly part: 'entry' | 'file' | 'package' | 'schema' | 'metadata';
  /** Path of the file, name of the package, `parameters` or `returns`, or key of the metadata; empty for the entry. */
  readonly name: string;
  /** For a file its SHA-256 in hexadecimal, for a package its version. */
  readonly before: Json;
  readonly after: Json;
}

/** What a lock says of a tool as it is now. */
export function toLockedTool(metadata: ToolMetadata, { entry, digest, files, packages }: Closure): LockedTool {
  const { name: _, parameters, returns, ...rest } = metadata;
  return {
    entry,
    digest,
    files: new Map(files.map((file) => [file.path, file.digest])),
    packages,
    parameters,
    returns,
    // A literal of JSON, less what is undefined.
    metadata: JSON.parse(JSON.stringify(rest)) as LockedTool['metadata'],
  };
}

/** Of all that runs: the files by their digest, the packages by their versions. */
export function digestPin({ digest, packages }: LockedTool): string {
  return hashJson([digest, ...packages]);
}

type Parts = Readonly<Record<LockChange['part'], ReadonlyMap<string, Json>>>;

function partsOf({ entry, files, packages, parameters, returns, metadata }: LockedTool): Parts {
  return {
    entry: new Map([['', entry]]),
    file: files,
    package: packages,
    schema: new Map([
      ...(parameters === undefined ? [] : [['parameters', parameters] as const]),
      ...(returns === undefined ? [] : [['returns', returns] as const]),
    ]),
    metadata: new Map(Object.entries(metadata)),
  };
}

const parts = ['entry', 'file', 'package', 'schema', 'metadata'] as const;

/** In what `current` differs from what is locked; empty: in nothing. Of one that is not locked everything, but for where it lies. */
export function findChanges(locked: LockedTool | undefined, current: LockedTool): readonly LockChange[] {
  const [before, after] = [locked === undefined ? undefined : partsOf(locked), partsOf(current)];
  return parts
    .filter((part) => before !== undefined || part !== 'entry')
    .flatMap((part) => compareMembers(before?.[part] ?? new Map(), after[part]).map((change) => ({ part, ...change })));
}

/** Which parts have changed, for a message: `plugins/x.mjs, description`. */
export function describeChanges(changes: readonly LockChange[]): string {
  return changes.map(describeChange).join(', ');
}

function describeChange({ part, name, before, after }: LockChange): string {
  const fate = before === null ? ' (new)' : after === null ? ' (gone)' : '';
  switch (part) {
    case 'entry':
      return `the file is \`${String(after)}\` now`;
    case 'file':
      return `\`${name}\`${fate}`;
    case 'package':
      return `package \`${name}\` ${String(before ?? 'new')} -> ${String(after ?? 'gone')}`;
    case 'schema':
    case 'metadata':
      return `${name}${fate}`;
    default:
      return part satisfies never;
  }
}

/** The members of two objects that differ, in name order. `null`: it is not there. */
export function compareMembers(
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>,
): readonly { readonly name: string; readonly before: Json; readonly after: Json }[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const [was, is] = [before.get(name) ?? null, after.get(name) ?? null];
    const isSame = before.has(name) === after.has(name) && toCanonicalJson(was) === toCanonicalJson(is);
    return isSame ? [] : [{ name, before: was, after: is }];
  });
}

/** SHA-256 of the canonical text, in hexadecimal. */
export function hashJson(value: Json): string {
  return hash('sha256', toCanonicalJson(value));
}
