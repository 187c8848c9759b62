import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Identifies the process that started this one: its id, and when it started, since ids are used again. A client that connects
 * again gets the same identity; it cannot choose it.
 */
export function identifyClient(pid: number = process.ppid): string {
  return `${pid} ${readStart(pid) ?? ''}`;
}

/** `undefined` where the system does not say. */
function readStart(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      // After the name in brackets, which may hold anything: the twentieth field is the start.
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
    }
    if (process.platform === 'win32') return undefined;
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    // The client has just ended, or there is no `ps`: its id alone has to do.
    return undefined;
  }
}
