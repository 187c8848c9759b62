import { readdirSync, readFileSync } from 'node:fs';

/** The environment variable by which programs are found that a tool has started, wherever they have gone. */
export const tagName = 'HOLDFAST_PROCESS';

/** Programs that have one of the tags in their environment. On Linux; where the system does not tell, none. */
export function findTagged(tags: readonly string[]): readonly number[] {
  const texts = tags.map((tag) => `${tagName}=${tag}`);
  return listProcesses().filter((id) => {
    const environment = readText(`/proc/${id}/environ`);
    return environment !== '' && texts.some((text) => environment.includes(text));
  });
}

/** Kills them, and what they start meanwhile. */
export function killTagged(tags: readonly string[]): void {
  const killed = new Set<number>();
  for (;;) {
    // One that dies is there for a while yet.
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

// One that is about to become another program shows no environment for a moment, so that one look is not enough.
const enoughLooks = 2;

/**
 * Makes a function that says whether a program runs, or may run, which this process has started, or which such a one has started and left. It
 * looks at all programs of the system only when one has been started since the last time.
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
    // In a sandbox, what has started this process has the tag, too.
    const isFound = findTagged([tag]).some((id) => id !== process.pid && id !== process.ppid);
    looks = isFound ? 0 : looks + 1;
    return looks < enoughLooks;
  };
}

/** What programs that this one has started had used of memory when they ended: more with each of them. */
function readEnded(): string | undefined {
  const text = readText('/proc/self/stat');
  // The second field, the name, is in brackets, and can be anything.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[8];
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // There is no such folder.
    return [];
  }
}

/** `''` when it cannot be read: the process has ended, or is somebody else's. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
