import { readdirSync, readFileSync } from 'node:fs';

/** The environment variable that identifies programs started by a tool, even outside its process group. */
export const tagName = 'HOLDFAST_PROCESS';

/** Ids of the programs with one of the tags in their environment. Linux only; otherwise none. */
export function findTagged(tags: readonly string[]): readonly number[] {
  const texts = tags.map((tag) => `${tagName}=${tag}`);
  return listProcesses().filter((id) => {
    const environment = readText(`/proc/${id}/environ`);
    return environment !== '' && texts.some((text) => environment.includes(text));
  });
}

/** Kills them, including programs that they start meanwhile. */
export function killTagged(tags: readonly string[]): void {
  const killed = new Set<number>();
  for (;;) {
    // A dying process remains visible for a while.
    const found = findTagged(tags).filter((id) => !killed.has(id));
    if (found.length === 0) return;
    for (const id of found) {
      killed.add(id);
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }
}

// A program in the middle of `exec` briefly shows no environment, so one look is not enough.
const enoughLooks = 2;

/**
 * Creates a function that returns true if a program may still run that this process, or an orphan of it, started. Scans
 * the system only if a program was started since the last scan.
 */
export function createProgramFinder(): () => boolean {
  const tag = process.env[tagName] ?? '';
  let ended = readEnded();
  let looks = enoughLooks;
  return () => {
    if (readText('/proc/thread-self/children') !== '') return true;
    const endedNow = readEnded();
    if (endedNow !== ended) looks = 0;
    ended = endedNow;
    if (looks === enoughLooks) return false;
    // In a sandbox, the parent process has the tag too.
    const isFound = findTagged([tag]).some((id) => id !== process.pid && id !== process.ppid);
    looks = isFound ? 0 : looks + 1;
    return looks < enoughLooks;
  };
}

/** Page faults of ended child processes: the count grows with each of them. */
function readEnded(): string | undefined {
  const text = readText('/proc/self/stat');
  // The second field, the name, is in brackets and can contain anything.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[8];
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // The folder does not exist.
    return [];
  }
}

/** `''` if unreadable: the process has ended, or belongs to another user. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
