import {
  allow,
  type Decision,
  definePolicy,
  deny,
  type FilesystemReader,
  HoldfastError,
  isHoldfastError,
  type Policy,
  type PreparedCall,
} from '@holdfast/core';
import { checkOptions, hasControl } from '@holdfast/core/internal';
import { type PathArguments, pathsOf, readPathArguments } from './path-arguments.ts';

export interface PathScopeOptions {
  /** Files and folders that may be read, relative to the workspace's root; `''` is the whole workspace, `[]` nothing. Default: all. */
  readonly read?: readonly string[];
  /** Files and folders that may be written. Default: all. */
  readonly write?: readonly string[];
  /**
   * Tools that read files or folders, with the argument that holds the path or a list of paths. Default: the file tools `read_file`,
   * `edit_file`, `list_files` and `grep_files` with `path`, and `glob_files` with `pattern`.
   */
  readonly readers?: PathArguments;
  /** Tools that write. Default: `write_file`, `edit_file` and `delete_file` with `path`. */
  readonly writers?: PathArguments;
  /** Default `path-scope`; required if there are two in one place. */
  readonly id?: string;
}

// Wildcards of a pattern are compared like names: all matches lie within the same scope.
const defaultReaders: PathArguments = {
  read_file: 'path',
  edit_file: 'path',
  list_files: 'path',
  grep_files: 'path',
  glob_files: 'pattern',
};
const defaultWriters: PathArguments = { write_file: 'path', edit_file: 'path', delete_file: 'path' };

/**
 * Restricts calls to some files and folders, separately for reading and writing.
 *
 * Paths are compared as the resource `filesystem` resolves them, so that no spelling or link leads out of the scope; the scope itself
 * follows no links. The check denies calls of the named readers and writers before they run; without a filesystem it denies all of them.
 * A success of any tool that read content or wrote outside of the scope fails before its commit: `onResult` throws `policy.refused`,
 * and the content is not returned. File names seen without reading are not restricted. A call that was denied but let through, such as
 * after approval through `some`, may touch the denied files.
 *
 * Keeps no state.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function pathScope(options: PathScopeOptions): Policy<undefined> {
  checkOptions('pathScope', options, { read: 'any', write: 'any', readers: 'any', writers: 'any', id: 'any' });
  const { read, write, readers, writers, id } = options;
  if (read === undefined && write === undefined) {
    throw new HoldfastError('options.invalid', '`pathScope` needs `read`, `write` or both.');
  }
  const uses: readonly Use[] = [
    {
      what: 'read' as const,
      scope: readScope('read', read),
      argumentsOf: readPathArguments('readers', readers ?? defaultReaders),
    },
    {
      what: 'written' as const,
      scope: readScope('write', write),
      argumentsOf: readPathArguments('writers', writers ?? defaultWriters),
    },
  ].flatMap(({ scope, ...use }) => (scope === undefined ? [] : [{ ...use, scope }]));
  // Denied paths of calls that were let through, by use. They live as long as the call, so they are not state.
  const overruled = new WeakMap<PreparedCall, Refused>();
  return definePolicy({
    name: 'path-scope',
    ...(id === undefined ? {} : { id }),
    // The default tools are not mentioned: a prompt may lack some of them.
    mentions: [...new Set([...Object.keys(readers ?? {}), ...Object.keys(writers ?? {})])],
    check(call, { filesystem }) {
      const named = uses.filter(({ argumentsOf }) => argumentsOf.has(call.tool.name));
      if (named.length === 0) return allow;
      if (filesystem === undefined) return deny(`\`${call.tool.name}\` has no files: no filesystem is bound.`);
      return checkUses(call, named, filesystem).then(({ decision, refused }) => {
        if (refused === undefined) overruled.delete(call);
        else overruled.set(call, refused);
        return decision;
      });
    },
    onResult(call, { touched }) {
      const files = touched.get('filesystem');
      if (files === undefined) return;
      for (const { what, scope } of uses) {
        const letThrough = overruled.get(call)?.get(what) ?? [];
        const outside = files[what === 'read' ? 'reads' : 'writes'].find(
          ({ key }) => !scope.has(key) && !letThrough.some((folder) => isWithin(key, folder)),
        );
        if (outside === undefined) continue;
        throw new HoldfastError('policy.refused', `\`${call.tool.name}\`: ${scope.refusal(outside.key, what)}`, {
          data: { reason: 'path_scope', tool: call.tool.name, path: outside.key, use: what },
        });
      }
    },
  });
}

interface Scope {
  /** True if a resolved path is in the scope. */
  has(key: string): boolean;
  refusal(key: string, what: string): string;
}

/** One use of files: its tools with their arguments, and its scope. */
interface Use {
  readonly what: 'read' | 'written';
  readonly scope: Scope;
  readonly argumentsOf: ReadonlyMap<string, string>;
}

/** Denied resolved paths, by use. */
type Refused = ReadonlyMap<string, readonly string[]>;

async function checkUses(
  { tool, input }: PreparedCall,
  uses: readonly Use[],
  filesystem: FilesystemReader,
): Promise<{ readonly decision: Decision; readonly refused?: Refused }> {
  const refused = new Map<string, readonly string[]>();
  let refusal: string | undefined;
  for (const { what, scope, argumentsOf } of uses) {
    const argument = argumentsOf.get(tool.name) ?? '';
    const paths = pathsOf(input, argument);
    if (paths === undefined) {
      return { decision: deny(`\`${argument}\` of \`${tool.name}\` must be a path, or a list of paths.`) };
    }
    const keys = await resolveAll(paths, filesystem);
    if (typeof keys === 'string') return { decision: deny(keys) };
    const outside = keys.filter((key) => !scope.has(key));
    const [first] = outside;
    if (first !== undefined) refusal ??= scope.refusal(first, what);
    refused.set(what, outside);
  }
  return refusal === undefined ? { decision: allow } : { decision: deny(refusal), refused };
}

/** Resolves paths. A path error of the filesystem becomes the reason for the model; other errors are thrown. */
async function resolveAll(paths: readonly string[], filesystem: FilesystemReader): Promise<readonly string[] | string> {
  try {
    return await Promise.all(paths.map((path) => filesystem.resolve(path)));
  } catch (error) {
    if (isHoldfastError(error)) return error.message;
    throw error;
  }
}

function isWithin(key: string, folder: string): boolean {
  return folder === '' || key === folder || key.startsWith(`${folder}/`);
}

function readScope(option: string, paths: readonly string[] | undefined): Scope | undefined {
  if (paths === undefined) return undefined;
  if (!Array.isArray(paths) || paths.some((path) => typeof path !== 'string')) {
    throw new HoldfastError('options.invalid', `\`${option}\` must be a list of file and folder paths.`);
  }
  const keys = paths.map((path: string) => toKey(option, path));
  const shown = keys.map((key) => `\`${key === '' ? '/' : key}\``).join(', ');
  return {
    has: (key) => keys.some((folder) => isWithin(key, folder)),
    refusal: (key, what) =>
      `\`${key === '' ? '/' : key}\` must not be ${what}: ${keys.length === 0 ? 'nothing may be' : `only ${shown} may be`}.`,
  };
}

/** The path as a filesystem without links would resolve it. */
function toKey(option: string, path: string): string {
  const names = path.normalize('NFC').split('/');
  const kept = names.filter((name) => name !== '' && name !== '.');
  if (kept.some((name) => name === '..' || /[*?\\]/.test(name) || hasControl(name))) {
    throw new HoldfastError(
      'options.invalid',
      `\`${option}\` must list paths relative to the root, without \`..\`, \`\\\` and wildcards; got ${JSON.stringify(path)}.`,
      { data: { path: path.toWellFormed() } },
    );
  }
  return kept.join('/');
}
