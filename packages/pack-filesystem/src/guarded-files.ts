import {
  allow,
  definePolicy,
  deny,
  type FilesystemReader,
  isHoldfastError,
  isPlainObject,
  type Json,
  type Policy,
  type PreparedCall,
  type Touched,
} from '@holdfast/core';
import type { PathArguments } from '@holdfast/policy';
import { filesShown, findSearched, type SearchArguments } from './searches.ts';

/** Which tools use files, and by which arguments. */
export interface FileUses {
  readonly reads: PathArguments;
  readonly writes: PathArguments;
  readonly searches: Readonly<Record<string, SearchArguments>>;
}

export interface GuardedFilesOptions {
  readonly id: string;
  /** Tools that the host has named. */
  readonly tools: readonly string[];
  readonly uses: FileUses;
  /** Whether the files may be read. */
  readonly readable: boolean;
  /** Of a file as the filesystem resolves it. */
  readonly isGuarded: (key: string) => boolean;
  /** Why not: for the model. `path` is the file, not too long; `use` is what the call does, or has done, to it. */
  readonly refuse: (path: string, use: FileUse) => string;
  /** What a call fails with that has done it all the same. */
  readonly fail: (message: string, data: { readonly tool: string; readonly path: string }) => Error;
}

export type FileUse = 'read' | 'written' | 'searched';

/** What a person let a call do although it was refused. Only for as long as the call lives, so it is no state. */
interface Overruled {
  readonly uses: readonly Used[];
  readonly searching: boolean;
}

interface Used {
  readonly key: string;
  readonly use: FileUse;
}

/**
 * Keeps calls off some files: the named tools before they run, whatever tool it was before its success is committed. A search of
 * such a file cannot be seen afterwards, so it is found out before. Keeps no state.
 */
export function guardedFiles(options: GuardedFilesOptions): Policy<undefined> {
  const { id, tools, uses, readable, isGuarded, refuse, fail } = options;
  const readers = new Map(readable ? [] : Object.entries(uses.reads));
  const writers = new Map(Object.entries(uses.writes));
  const searchers = new Map(readable ? [] : Object.entries(uses.searches));
  // Also of `dev_grep_files`, as it is called under a prefix: what a search looks into is not noticed afterwards.
  const searchOf = (name: string): SearchArguments | undefined =>
    searchers.get(name) ?? (/[_-]grep_files$/u.test(name) ? searchers.get('grep_files') : undefined);
  const overruled = new WeakMap<PreparedCall, Overruled>();

  async function check({ call, filesystem }: { readonly call: PreparedCall; readonly filesystem: FilesystemReader }) {
    const { tool, input } = call;
    const found: Used[] = [];
    const named = [
      ['read', readers],
      ['written', writers],
    ] as const;
    for (const [use, argumentsOf] of named) {
      const argument = argumentsOf.get(tool.name);
      if (argument === undefined) continue;
      const paths = pathsOf(input, argument);
      if (paths === undefined) return deny(`\`${argument}\` of \`${tool.name}\` must be a path, or a list of paths.`);
      const keys = await Promise.all(paths.map((path) => filesystem.resolve(path)));
      for (const key of keys) if (isGuarded(key)) found.push({ key, use });
    }
    const search = searchOf(tool.name);
    const searched = search && (await findSearched(input, search, { filesystem, isGuarded }));
    if (searched !== undefined) found.push({ key: searched, use: 'searched' });
    const [first] = found;
    if (first === undefined) return allow;
    overruled.set(call, { uses: found, searching: searched !== undefined });
    return deny(refuse(show(first.key), first.use));
  }

  return definePolicy({
    name: id,
    tools,
    check(call, { filesystem }) {
      const { name } = call.tool;
      if (!readers.has(name) && !writers.has(name) && searchOf(name) === undefined) return allow;
      if (filesystem === undefined) return deny(`\`${name}\` has no files: no filesystem is bound.`);
      overruled.delete(call);
      return check({ call, filesystem }).catch((error: unknown) => {
        // The filesystem's own refusal of a path is an answer for the model; anything else is a fault.
        if (isHoldfastError(error)) return deny(error.message);
        throw error;
      });
    },
    onResult(call, { touched, value }) {
      const letThrough = overruled.get(call);
      const shown = letThrough?.searching !== true && searchOf(call.tool.name) !== undefined ? filesShown(value) : [];
      for (const { key, use } of listUses(touched.get('filesystem'), shown)) {
        if ((readable && use !== 'written') || !isGuarded(key)) continue;
        // A yes to reading a file is none to writing it. Who may search it, or write it, may read it.
        if (letThrough?.uses.some((allowed) => allowed.key === key && (allowed.use === use || use === 'read')))
          continue;
        throw fail(`\`${call.tool.name}\`: ${refuse(show(key), use)}`, { tool: call.tool.name, path: key });
      }
    },
  });
}

function listUses(touched: Touched | undefined, shown: readonly string[]): readonly Used[] {
  return [
    ...(touched?.reads ?? []).map(({ key }) => ({ key, use: 'read' as const })),
    ...(touched?.writes ?? []).map(({ key }) => ({ key, use: 'written' as const })),
    ...shown.map((key) => ({ key, use: 'searched' as const })),
  ];
}

const maxShown = 200;

function show(key: string): string {
  return key.length > maxShown ? `…${key.slice(-maxShown).toWellFormed()}` : key;
}

/** The paths in an argument; `undefined` when it holds anything else. */
function pathsOf(input: Json, argument: string): readonly string[] | undefined {
  if (!isPlainObject(input) || !Object.hasOwn(input, argument)) return undefined;
  const value = input[argument];
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.every((path): path is string => typeof path === 'string');
  return isList ? value : undefined;
}
