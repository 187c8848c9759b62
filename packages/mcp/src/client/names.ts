import { hash } from 'node:crypto';
import { findToolNameProblem } from '@holdfast/core/internal';

const longestName = 64;
const digestLength = 8;
/** Names that the protocol allows. */
const mcpName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Our name for a tool of a server: `read.File` of `files` is `files_read_file`. Lower case, with `_` for `.`; a name that is too long
 * ends in a digest. `undefined` for a name that the protocol does not allow.
 */
export function toToolName(server: string, name: string): string | undefined {
  if (!mcpName.test(name)) return undefined;
  const plain = `${server}_${name.toLowerCase().replaceAll('.', '_')}`;
  const short =
    plain.length <= longestName
      ? plain
      : `${plain.slice(0, longestName - digestLength - 1)}-${hash('sha256', name).slice(0, digestLength)}`;
  return findToolNameProblem(short) === undefined ? short : undefined;
}

/** The names of a server's tools that become one name of ours: none of them can be called. */
export function findCollisions(server: string, names: readonly string[]): ReadonlySet<string> {
  const byName = new Map<string, string[]>();
  for (const name of names) {
    const ours = toToolName(server, name);
    if (ours !== undefined) byName.set(ours, [...(byName.get(ours) ?? []), name]);
  }
  return new Set([...byName.values()].filter(({ length }) => length > 1).flat());
}
