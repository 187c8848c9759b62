import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/**
 * Descriptors from `first` on that a child process would inherit, because this process inherited them; Node closes its
 * own. Empty if unknown (outside Linux).
 */
function findInherited(first: number): readonly number[] {
  let names: readonly string[];
  try {
    names = readdirSync('/proc/self/fd');
  } catch {
    // The folder does not exist.
    return [];
  }
  return names.map(Number).filter((descriptor) => descriptor >= first && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor used for listing.
    return false;
  }
}

/** Calls `start` with the additional `stdio` entries that close all inherited descriptors from `first` on. */
export function withoutInherited<Started>(
  first: number,
  start: (more: readonly ('ignore' | number)[]) => Started,
): Started {
  const inherited = new Set(findInherited(first));
  if (inherited.size === 0) return start([]);
  const nothing = openSync('/dev/null', 'r');
  try {
    const count = Math.max(...inherited) - first + 1;
    // Ignored descriptors are closed.
    return start(Array.from({ length: count }, (_, index) => (inherited.has(first + index) ? nothing : 'ignore')));
  } finally {
    closeSync(nothing);
  }
}
