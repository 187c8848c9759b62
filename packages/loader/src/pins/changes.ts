import { hash } from 'node:crypto';
import type { Json } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import type { ToolMetadata } from '../check/types.ts';
import type { Closure } from '../imports/closure.ts';
import type { LockedTool } from './lock-file.ts';

/** One difference between a tool and its lock entry. `null`: absent. */
export interface LockChange {
  readonly part: 'entry' | 'file' | 'package' | 'schema' | 'metadata';
  /** Path of the file, name of the package, `parameters` or `returns`, or key of the metadata; empty for the entry. */
  readonly name: string;
  /** For a file its SHA-256 in hexadecimal, for a package its version. */
  readonly before: Json;
  readonly after: Json;
}

/** The lock entry for the current state of a tool. */
export function toLockedTool(metadata: ToolMetadata, { entry, digest, files, packages }: Closure): LockedTool {
  const { name: _, parameters, returns, ...rest } = metadata;
  return {
    entry,
    digest,
    files: new Map(files.map((file) => [file.path, file.digest])),
    packages,
    parameters,
    returns,
    // A JSON literal, without undefined members.
    metadata: JSON.parse(JSON.stringify(rest)) as LockedTool['metadata'],
  };
}

/** Digest of all code that runs: the digest of the files and the package versions. */
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

/** The differences between the lock entry and the current tool; empty if none. For an unlocked tool everything, except its location. */
export function findChanges(locked: LockedTool | undefined, current: LockedTool): readonly LockChange[] {
  const [before, after] = [locked === undefined ? undefined : partsOf(locked), partsOf(current)];
  return parts
    .filter((part) => before !== undefined || part !== 'entry')
    .flatMap((part) => compareMembers(before?.[part] ?? new Map(), after[part]).map((change) => ({ part, ...change })));
}

/** The changed parts for a message: `plugins/x.mjs, description`. */
export function describeChanges(changes: readonly LockChange[]): string {
  return changes.map(describeChange).join(', ');
}

function describeChange({ part, name, before, after }: LockChange): string {
  const fate = before === null ? ' (new)' : after === null ? ' (gone)' : '';
  switch (part) {
    case 'entry':
      return `the file is now \`${String(after)}\``;
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

/** The differing members of two objects, in name order. `null`: absent. */
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
