import { checkToolName, definePack, definePolicy, HoldfastError, type Pack, type Policy } from '@holdfast/core';
import { type PathArguments, pathScope } from '@holdfast/policy';
import * as v from 'valibot';
import manifest from '../package.json' with { type: 'json' };
import { filePatterns, isFilePattern } from './file-patterns.ts';
import { type FileUses, guardedFiles } from './guarded-files.ts';
import { type SecretPatterns, secretFinder } from './known-secrets.ts';
import type { SearchArguments } from './searches.ts';

/**
 * The options of `filesystemGuard`. A pattern has `*`, `?`, `**`, `[a-z]` and `{a,b}` and goes by any letter case; one without `/` is
 * for files and folders of that name anywhere, one with it starts at the workspace's root.
 */
export interface FilesystemGuardOptions extends SecretPatterns {
  /** Files and folders that may be read, from the workspace's root on, as `pathScope` takes them. Default: all. */
  readonly read?: readonly string[] | undefined;
  /** Files and folders that may be written. Default: all. */
  readonly write?: readonly string[] | undefined;
  /** Patterns of files that are neither written nor deleted, beside `.git`. Default: none. */
  readonly readOnly?: readonly string[] | undefined;
  /** Tools that read files, by the argument that holds the path or a list of them, beside `read_file` and `edit_file`. */
  readonly readers?: PathArguments | undefined;
  /** Tools that write, beside `write_file`, `edit_file` and `delete_file`. */
  readonly writers?: PathArguments | undefined;
  /** Tools that look into all files of a folder, beside `grep_files`. */
  readonly searchers?: Readonly<Record<string, SearchArguments>> | undefined;
}

const pattern = v.pipe(
  v.string(),
  v.check(isFilePattern, 'must be a pattern of at most 500 characters without `..` and `\\`, its brackets closed'),
);
const patterns = v.optional(v.array(pattern));
const paths = v.pipe(
  v.array(v.string()),
  v.check(isScope, 'must list files and folders from the root on, without `..`, `\\` and wildcards'),
);
const toolName = v.pipe(v.string(), v.check(isToolName, 'must be the name of a tool'));
const argument = v.pipe(v.string(), v.minLength(1));
const pathArguments = v.optional(v.record(toolName, argument));
const search = v.object({ path: argument, glob: v.optional(argument) });

const configSchema = v.object({
  read: v.optional(paths),
  write: v.optional(paths),
  secrets: patterns,
  notSecret: patterns,
  readOnly: patterns,
  readers: pathArguments,
  writers: pathArguments,
  searchers: v.optional(v.record(toolName, search)),
});

/** What a change of it makes other programs do: editors, hooks, continuous integration. */
const runsByItself = [
  ...['.github', '.gitlab-ci.yml', '.circleci', '.husky', '.githooks', '.pre-commit-config.yaml'],
  ...['.vscode', '.idea', '.devcontainer', '.gitattributes', '.gitmodules'],
];

/**
 * Secret files are neither read, searched, written nor deleted, `.git` is not written, and calls may be kept to some folders. Files are
 * compared as the resource `filesystem` resolves them, so that no spelling and no link leads to them.
 *
 * A search (`grep_files`) that would look into a secret file is denied before it runs, whatever is in the file: narrowed by folder or
 * glob it goes on, and in a filesystem `withoutSecrets` there is nothing to deny.
 *
 * A success that touched such a file all the same fails before it is committed, with `policy.secret_files`, `policy.read_only_files` or
 * `policy.path_scope`. Keeps no state.
 */
export const filesystemGuard: Pack<FilesystemGuardOptions> = definePack<FilesystemGuardOptions, FilesystemGuardOptions>(
  {
    name: 'filesystem-guard',
    version: manifest.version,
    description: 'Keeps secret files unread and unwritten, `.git` unwritten, and calls to some folders.',
    configSchema,
    presets: {
      recommended: { description: 'The known secret files, and `.git`.', config: {} },
      strict: {
        description: 'Also leaves alone what editors, hooks and continuous integration run by themselves.',
        config: { readOnly: runsByItself },
      },
    },
    policies: ({ read, write, secrets, notSecret, readOnly = [], ...named }) => {
      const tools = [named.readers, named.writers, named.searchers].flatMap((byTool) => Object.keys(byTool ?? {}));
      const uses: FileUses = {
        reads: { read_file: 'path', edit_file: 'path', ...named.readers },
        writes: { write_file: 'path', edit_file: 'path', delete_file: 'path', ...named.writers },
        searches: { grep_files: { path: 'path', glob: 'glob' }, ...named.searchers },
      };
      return [
        secretFiles({ secrets, notSecret, uses, tools }),
        readOnlyFiles({ readOnly, uses, tools }),
        ...(read === undefined && write === undefined ? [] : [scopeOf({ read, write, uses, tools })]),
      ];
    },
  },
);

interface Named {
  readonly uses: FileUses;
  readonly tools: readonly string[];
}

function secretFiles({ uses, tools, ...patterns }: Named & SecretPatterns): Policy<undefined> {
  return guardedFiles({
    id: 'secret-files',
    tools,
    uses,
    readable: false,
    isGuarded: secretFinder(patterns),
    refuse: (path, use) =>
      use === 'searched'
        ? `\`${path}\` holds secrets and must not be searched: search in a folder without it, or only files such as \`*.ts\`.`
        : `\`${path}\` holds secrets and must not be ${use}. If it holds none, whoever runs this names it in \`notSecret\`.`,
    fail: (message, data) => new HoldfastError('policy.secret_files', message, { data }),
  });
}

function readOnlyFiles({ readOnly, uses, tools }: Named & { readonly readOnly: readonly string[] }): Policy<undefined> {
  const kept = filePatterns(['.git', ...readOnly]);
  return guardedFiles({
    id: 'read-only-files',
    tools,
    uses,
    readable: true,
    isGuarded: kept.covers,
    refuse: (path, use) => `\`${path}\` must not be ${use}: it is only there to be read.`,
    fail: (message, data) => new HoldfastError('policy.read_only_files', message, { data }),
  });
}

/** `pathScope`, which would want every tool to exist that it is told of; the file tools are only those that a host has. */
function scopeOf({ read, write, uses, tools }: Named & Pick<FilesystemGuardOptions, 'read' | 'write'>): Policy {
  const searches = Object.entries(uses.searches).map(([name, { path }]) => [name, path] as const);
  const { check, onResult } = pathScope({
    ...(read === undefined ? {} : { read }),
    ...(write === undefined ? {} : { write }),
    readers: { list_files: 'path', glob_files: 'pattern', ...uses.reads, ...Object.fromEntries(searches) },
    writers: uses.writes,
  });
  return definePolicy({ name: 'path-scope', tools, check, ...(onResult === undefined ? {} : { onResult }) });
}

function isScope(paths: string[]): boolean {
  try {
    pathScope({ read: paths });
    return true;
  } catch {
    // Whoever asks says what is wrong, with the place in the options.
    return false;
  }
}

function isToolName(name: string): boolean {
  try {
    checkToolName(name);
    return true;
  } catch {
    // As above.
    return false;
  }
}
