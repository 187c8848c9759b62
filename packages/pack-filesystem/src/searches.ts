import { type FilesystemReader, isHoldfastError, isPlainObject, type Json } from '@holdfast/core';
import { globPattern } from './file-patterns.ts';

/** The arguments of a tool that looks into all files of a folder. */
export interface SearchArguments {
  /** Holds the folder or file; a call without it searches everything. */
  readonly path: string;
  /** Holds a pattern that names its files must match, as `grep_files` has it. Default: it has none. */
  readonly glob?: string | undefined;
}

/** The first of the files that a search would look into and `isGuarded` says. What a search finds must not tell what is in them. */
export async function findSearched(
  input: Json,
  { path, glob }: SearchArguments,
  { filesystem, isGuarded }: { readonly filesystem: FilesystemReader; readonly isGuarded: (key: string) => boolean },
): Promise<string | undefined> {
  const wanted = readText(input, glob);
  const isSearched = wanted === undefined ? undefined : globPattern(wanted);
  try {
    for await (const { path: key } of filesystem.walk(readText(input, path) ?? '')) {
      if (isGuarded(key) && (isSearched?.(key) ?? true)) return key;
    }
    return undefined;
  } catch (error) {
    // There is nothing to search, as the tool will say.
    if (isHoldfastError(error) && error.code === 'file.missing') return undefined;
    throw error;
  }
}

/** The files of which a search shows lines, in the words of `grep_files`. */
export function filesShown(value: Json): readonly string[] {
  if (!isPlainObject(value) || !Array.isArray(value['matches'])) return [];
  const matches: readonly unknown[] = value['matches'];
  return matches.flatMap((match) => (isPlainObject(match) && typeof match['path'] === 'string' ? [match['path']] : []));
}

function readText(input: Json, argument: string | undefined): string | undefined {
  if (argument === undefined || !isPlainObject(input) || !Object.hasOwn(input, argument)) return undefined;
  const value = input[argument];
  return typeof value === 'string' ? value : undefined;
}
