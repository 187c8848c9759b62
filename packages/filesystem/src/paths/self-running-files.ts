import {
  allow,
  ask,
  type Decision,
  definePolicy,
  type FilesystemReader,
  HoldfastError,
  isHoldfastError,
  type Json,
  type Policy,
  type PreparedCall,
  runsByItself,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { parsePath, showPath } from './paths.ts';

export interface SelfRunningFilesOptions {
  /** Other tools that write files, each with the arguments that hold paths; an argument may also be a list of paths. */
  readonly writers?: Readonly<Record<string, string | readonly string[]>>;
}

const fileWriters = { write_file: 'path', edit_file: 'path', delete_file: 'path' } as const;

/**
 * Asks before a tool writes, edits or deletes a file that other programs run automatically (`runsByItself`): `package.json`, hooks, editor
 * tasks, `.envrc`, settings of agents. Only an approval of this very call answers it (`grantable: false`); without an approver it is
 * denied.
 *
 * Paths are compared as written and as resolved by the resource `filesystem`. A link elsewhere that gives an ordinary file such a path is
 * not detected. The check asks about the file tools and `writers`. If any other tool writes such a file, or one of these tools writes a
 * different one than was approved, the call fails before its commit: `onResult` throws `policy.refused`.
 *
 * Stateless.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function selfRunningFiles({ writers = {} }: SelfRunningFilesOptions = {}): Policy<undefined> {
  const argumentsOf = new Map<string, readonly string[]>();
  for (const [tool, given] of Object.entries({ ...fileWriters, ...writers })) {
    const names: readonly unknown[] = [given].flat();
    if (!names.every((name) => typeof name === 'string' && name !== '')) {
      throw new HoldfastError('options.invalid', `\`writers.${tool}\` must name the arguments that hold paths.`);
    }
    argumentsOf.set(tool, names as readonly string[]);
  }
  // The approved paths of a call. Kept only while the call exists, so this is not state.
  const asked = new WeakMap<PreparedCall, ReadonlySet<string>>();
  return definePolicy({
    name: 'self-running-files',
    mentions: Object.keys(writers),
    check(call, { filesystem }) {
      const paths = argumentsOf.get(call.tool.name)?.flatMap((argument) => pathsOf(call.input, argument)) ?? [];
      // Without a filesystem, nothing is written.
      if (paths.length === 0 || filesystem === undefined) return allow;
      return judge(paths, filesystem).then(({ decision, keys }) => {
        asked.set(call, keys);
        return decision;
      });
    },
    onResult(call, { touched }) {
      const written = touched.get('filesystem')?.writes ?? [];
      const unasked = written.find(({ key }) => runsByItself(key) !== undefined && asked.get(call)?.has(key) !== true);
      if (unasked === undefined) return;
      const { key } = unasked;
      throw new HoldfastError(
        'policy.refused',
        `\`${call.tool.name}\` would change \`${showPath(key)}\`, which runs by itself: ${runsByItself(key)}. Change it with \`write_file\`, \`edit_file\` or \`delete_file\`, which ask for approval.`,
        { data: { reason: 'self_running_files', tool: call.tool.name, path: key } },
      );
    },
  });
}

async function judge(
  paths: readonly string[],
  filesystem: FilesystemReader,
): Promise<{ readonly decision: Decision; readonly keys: ReadonlySet<string> }> {
  const keys = new Set<string>();
  const reasons: string[] = [];
  for (const path of paths) {
    const places = await placesOf(path, filesystem);
    for (const key of places) keys.add(key);
    const place = places.find((key) => runsByItself(key) !== undefined);
    if (place !== undefined) reasons.push(`\`${showPath(place)}\` runs by itself: ${runsByItself(place)}.`);
  }
  return { decision: reasons.length === 0 ? allow : ask(reasons.join('\n'), { grantable: false }), keys };
}

/** The path as written and as resolved. None if the filesystem rejects it, as it will when the tool writes. */
async function placesOf(path: string, filesystem: FilesystemReader): Promise<readonly string[]> {
  try {
    return [parsePath(path), await filesystem.resolve(path)];
  } catch (error) {
    if (isHoldfastError(error)) return [];
    throw error;
  }
}

function pathsOf(input: Json, argument: string): readonly string[] {
  const value: unknown = isPlainObject(input) && Object.hasOwn(input, argument) ? input[argument] : undefined;
  return [value].flat().filter((path) => typeof path === 'string');
}
