import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/**
 * Descriptors from `first` on that a program started here would have: those that this process has itself inherited. Node's own are
 * closed; where they cannot be told (not on Linux), none.
 */
function findInherited(first: number): readonly number[] {
  let names: readonly string[];
  try {
    names = readdirSync('/proc/self/fd');
  } catch {
    // There is no such folder.
    return [];
  }
  return names.map(Number).filter((descriptor) => descriptor >= first && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // It was the one by which they were listed.
    return false;
  }
}

/**
 * Calls `start` with what to add to the `stdio` of a program, which names its first `first` descriptors: nothing is behind any further
 * one then, whatever this process was started with.
 */
export function withoutInherited<Started>(
  first: number,
  start: (more: readonly ('ignore' | number)[]) => Started,
): Started {
  const inherited = new Set(findInherited(first));
  if (inherited.size === 0) return start([]);
  const nothing = openSync('/dev/null', 'r');
  try {
    const count = Math.max(...inherited) - first + 1;
    // What is ignored is left as it is: closed.
    return start(Array.from({ length: count }, (_, index) => (inherited.has(first + index) ? nothing : 'ignore')));
  } finally {
    closeSync(nothing);
  }
}
