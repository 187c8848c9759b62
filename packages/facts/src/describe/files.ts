import type { Describer, Json, PlaceView } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { joinPath } from '../places/path.ts';
import { FactsBuilder, type Use } from '../script/facts-builder.ts';
import { unclearFacts } from './union.ts';

/** The arguments of a file tool that hold paths. */
export interface FileUse {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly deletes?: readonly string[];
  /** Folders that it searches; the working folder if the argument is absent. */
  readonly searches?: readonly string[];
  /** Patterns of file names that it searches. */
  readonly only?: readonly string[];
}

export interface FileFactsOptions {
  /** Keyed by tool name. Default: common file tools of agents and MCP servers. */
  readonly tools?: Readonly<Record<string, FileUse>>;
}

const reads: FileUse = { reads: ['path', 'file_path', 'filePath', 'paths', 'absolute_path', 'notebook_path', 'uri'] };
const writes: FileUse = { writes: ['path', 'file_path', 'filePath', 'notebook_path'] };
const edits: FileUse = { reads: writes.writes ?? [], writes: writes.writes ?? [] };
const searches: FileUse = { searches: ['path', 'dir_path', 'directory', 'folder'], only: ['glob', 'include'] };
const lists: FileUse = {};
const usualTools: readonly (readonly [string, FileUse])[] = [
  ...[
    'Read',
    'read',
    'read_file',
    'read_text_file',
    'read_media_file',
    'read_multiple_files',
    'read_many_files',
    'view_image',
    'NotebookRead',
  ].map((name) => [name, reads] as const),
  ...['Write', 'write', 'write_file', 'create_file'].map((name) => [name, writes] as const),
  ...['Edit', 'edit', 'edit_file', 'MultiEdit', 'replace', 'NotebookEdit', 'str_replace'].map(
    (name) => [name, edits] as const,
  ),
  ...['delete_file', 'remove_file'].map((name) => [name, { deletes: reads.reads ?? [] }] as const),
  ['move_file', { reads: ['source'], deletes: ['source'], writes: ['destination'] }],
  ...['Grep', 'grep', 'grep_files', 'search_file_content'].map((name) => [name, searches] as const),
  // These show only names.
  ...[
    'Glob',
    'glob',
    'LS',
    'ls',
    'list',
    'list_files',
    'list_directory',
    'list_directory_with_sizes',
    'directory_tree',
    'search_files',
    'get_file_info',
    'create_directory',
    'list_allowed_directories',
  ].map((name) => [name, lists] as const),
];

/** Facts of file tools. An argument holds one path or a list of paths. */
export function fileFacts({ tools }: FileFactsOptions = {}): Describer {
  const uses = new Map<string, FileUse>(tools === undefined ? usualTools : Object.entries(tools));
  return {
    name: 'files',
    describe({ tool, input }, view) {
      const use = uses.get(tool);
      if (use === undefined) return undefined;
      const facts = new FactsBuilder(view);
      let found = 0;
      for (const what of ['reads', 'writes', 'deletes'] as const) {
        for (const argument of use[what] ?? []) found += touchPaths(input, argument, { facts, view, use: what });
      }
      if (use.searches !== undefined) {
        const only = use.only?.flatMap((argument) => textsOf(input, argument) ?? []) ?? [];
        const folders = use.searches.flatMap((argument) => textsOf(input, argument) ?? []);
        const names = only
          .map((pattern) => pattern.split('/').at(-1) ?? pattern)
          .filter((pattern) => !/[{}![\]\\]/.test(pattern));
        const recursion = {
          skips: ['ignored' as const],
          ...(names.length > 0 && names.length === only.length ? { only: names } : {}),
        };
        for (const folder of folders.length === 0 ? ['.'] : folders)
          facts.touch('reads', toPath(folder, view), recursion);
      } else if (found === 0 && Object.keys(use).length > 0) {
        return unclearFacts({ kind: 'words', reason: `cannot tell which file \`${tool}\` uses` });
      }
      return facts.build();
    },
  };
}

interface Touching {
  readonly facts: FactsBuilder;
  readonly view: PlaceView;
  readonly use: Use;
}

/** Returns the number of paths. */
function touchPaths(input: Json, argument: string, { facts, view, use }: Touching): number {
  if (!isPlainObject(input) || !Object.hasOwn(input, argument)) return 0;
  const paths = textsOf(input, argument);
  if (paths === undefined)
    facts.unclear({ kind: 'words', use, reason: `\`${argument}\` is neither a path nor a list of paths` });
  for (const path of paths ?? []) facts.touch(use, toPath(path, view));
  return 1;
}

/** Resolves `~` and `file:` addresses, as tools do. */
export function toPath(path: string, { folder, home }: PlaceView): string {
  const plain = /^file:\/\//i.test(path) ? decode(path.replace(/^file:\/\/[^/]*/i, '')) : path;
  if (home !== undefined && /^~(?=\/|$)/.test(plain)) return joinPath(home, `.${plain.slice(1)}`);
  return joinPath(folder, plain);
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not a valid address: use the text as a path.
    return path;
  }
}

export function textsOf(input: Json, argument: string): readonly string[] | undefined {
  const value = isPlainObject(input) && Object.hasOwn(input, argument) ? input[argument] : undefined;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((item): item is string => typeof item === 'string') ? value : undefined;
}
