import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies the client of this process. One that connects again gets the same identity; it cannot choose it. */
export function identifyClient(): string {
  return findClient() ?? `${process.ppid} `;
}

/**
 * The program that started a process, as its id and when it started, since ids are used again. Shells and package managers between the two
 * are passed over. `undefined` where the system does not say.
 */
export function findClient(startedBy: number = process.ppid): string | undefined {
  for (let pid = startedBy, depth = 0; pid > 0 && depth < 16; depth += 1) {
    const found = readProcess(pid);
    if (found === undefined) return undefined;
    if (!between.test(found.name)) return toIdentity(pid, found);
    pid = found.parent;
  }
  return undefined;
}

/** `undefined`: there is no such process, or the system does not say. */
export function identifyProcess(pid: number): string | undefined {
  const found = readProcess(pid);
  return found === undefined ? undefined : toIdentity(pid, found);
}

// The system cuts names to 15 characters; npm calls itself after the command that it runs.
const between = /^(?:(?:ba|da|z|k|fi)?sh|npx|npm|pnpm|bunx|npm exec .*)$/;

interface FoundProcess {
  readonly name: string;
  readonly parent: number;
  readonly started: string;
}

function toIdentity(pid: number, { started }: FoundProcess): string {
  return `${pid} ${started}`;
}

function readProcess(pid: number): FoundProcess | undefined {
  try {
    if (process.platform === 'linux') {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name is in brackets, and may hold any character.
      const end = text.lastIndexOf(')');
      const fields = text.slice(end + 2).split(' ');
      return { name: text.slice(text.indexOf('(') + 1, end), parent: Number(fields[1]), started: fields[19] ?? '' };
    }
    if (process.platform === 'win32') return undefined;
    const text = execFileSync('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)], { encoding: 'utf8' });
    const [, parent, started = '', path = ''] = /^\s*(\d+)\s+(\w+ \w+ +\d+ [\d:]+ \d+)\s+(.*?)\s*$/.exec(text) ?? [];
    return parent === undefined ? undefined : { name: path.replace(/^.*\/|^-/, ''), parent: Number(parent), started };
  } catch {
    // The process has just ended, or there is no `ps`.
    return undefined;
  }
}
