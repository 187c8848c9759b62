import {
  allow,
  type Decision,
  definePolicy,
  deny,
  type FilesystemReader,
  HoldfastError,
  isHoldfastError,
  type KeyedState,
  type Operation,
  type Policy,
  type PreparedCall,
  remove,
  type Tool,
  upsert,
} from '@holdfast/core';
import { checkOptions, isPlainObject } from '@holdfast/core/internal';
import type { Touched } from '@holdfast/core/types';
import { readPathArguments } from './path-arguments.ts';

export interface ReadBeforeWriteOptions {
  /**
   * The tools that write files, with the argument that holds the path. Default: `write_file`, `edit_file` and `delete_file` with `path`.
   */
  readonly writers?: Readonly<Record<string, string>>;
  /** Default `read-before-write`; required if there are two in one place. */
  readonly id?: string;
}

// The version of every folder by the filesystem contract; no file has it.
const folderVersion = 'directory';

const defaultWriters: Readonly<Record<string, string>> = { write_file: 'path', edit_file: 'path', delete_file: 'path' };

/**
 * Lets an existing file be written only if its current version was last read or written in this session.
 *
 * The check denies calls of the named writers before they run. A success of any tool that overwrote an unread file fails before its commit:
 * `onResult` throws `policy.refused`. Reading and writing a file within one call is allowed. Dangerous tools that are not named
 * writers are not checked: the decision to let a call through also covers its files. Nor is a file of a named writer that was let through
 * despite a denial, such as after approval through `some`.
 *
 * State: keyed by the path as the resource `filesystem` resolves it, the version last seen.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`.
 */
export function readBeforeWrite(options: ReadBeforeWriteOptions = {}): Policy<KeyedState<string>> {
  checkOptions('readBeforeWrite', options, { writers: 'any', id: 'any' });
  const { writers, id } = options;
  const pathArguments = readPathArguments('writers', writers ?? defaultWriters);
  // The file of a call let through despite a denial. It lives as long as the call, so it is not state.
  const overruled = new WeakMap<PreparedCall, string>();
  return definePolicy<string>({
    name: 'read-before-write',
    ...(id === undefined ? {} : { id }),
    // The default writers are not mentioned: a prompt may lack some of them.
    mentions: writers === undefined ? [] : [...pathArguments.keys()],
    stateKind: 'keyed',
    check(call, { state, filesystem }) {
      const { tool, input } = call;
      const pathArgument = pathArguments.get(tool.name);
      if (pathArgument === undefined) return allow;
      if (filesystem === undefined) return deny(`\`${tool.name}\` cannot write: no filesystem is bound.`);
      const path = isPlainObject(input) && Object.hasOwn(input, pathArgument) ? input[pathArgument] : undefined;
      if (typeof path !== 'string') return deny(`\`${pathArgument}\` of \`${tool.name}\` must be a path.`);
      return checkWrite(path, filesystem, state).then(({ key, decision }) => {
        if (key === undefined) overruled.delete(call);
        else overruled.set(call, key);
        return decision;
      });
    },
    onResult(call, { touched }, { state }) {
      const files = touched.get('filesystem');
      return files === undefined
        ? undefined
        : learn(call.tool, files, { seen: state, letThrough: overruled.get(call) });
    },
  });
}

interface Checked {
  readonly decision: Decision;
  /** The file, if denied. */
  readonly key?: string;
}

async function checkWrite(path: string, filesystem: FilesystemReader, seen: KeyedState<string>): Promise<Checked> {
  try {
    const key = await filesystem.resolve(path);
    const present = await filesystem.stat(key);
    // A folder has no content to lose; the tool itself reports invalid operations.
    if (present === undefined || present.type === 'directory') return { decision: allow };
    const version = seen.get(key);
    if (version === present.version) return { decision: allow };
    const decision =
      version === undefined
        ? deny(`\`${key}\` exists and has not been read: read it first, then retry.`)
        : deny(`\`${key}\` has changed since it was last read: read it again, then retry.`);
    return { decision, key };
  } catch (error) {
    // A path error of the filesystem becomes the reason for the model; other errors are thrown.
    if (isHoldfastError(error)) return { decision: deny(error.message) };
    throw error;
  }
}

interface Known {
  readonly seen: KeyedState<string>;
  readonly letThrough: string | undefined;
}

function learn(tool: Tool, { reads, writes }: Touched, { seen, letThrough }: Known): readonly Operation[] {
  for (const { key, before } of writes) {
    if (key === letThrough || tool.dangerous || before === null || before === folderVersion || seen.get(key) === before)
      continue;
    if (reads.some((read) => read.key === key && read.version === before)) continue;
    throw new HoldfastError(
      'policy.refused',
      `\`${tool.name}\` would overwrite \`${key}\`, whose current version has not been read: read it first, then retry.`,
      { data: { reason: 'read_before_write', tool: tool.name, path: key } },
    );
  }
  const latest = new Map<string, string | null>();
  for (const { key, version } of reads) latest.set(key, version);
  for (const { key, after } of writes) latest.set(key, after);
  const operations: Operation[] = [];
  for (const [key, version] of latest) {
    const isFile = version !== null && version !== folderVersion;
    if (isFile && seen.get(key) !== version) operations.push(upsert(key, version));
    if (!isFile && seen.has(key)) operations.push(remove(key));
  }
  return operations;
}
