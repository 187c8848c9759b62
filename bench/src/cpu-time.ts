import { readdirSync, readFileSync } from 'node:fs';

// The time that a process waits for a busy machine is not in these. Linux alone says them; `NaN` elsewhere.

/** The milliseconds that the ended children of this process have computed. In steps of 10 ms: add up many. */
export function cpuMsOfChildren(): number {
  if (process.platform !== 'linux') return Number.NaN;
  const text = readFileSync('/proc/self/stat', 'utf8');
  // The name before it is in brackets, and may hold any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** The milliseconds that a running process has computed, in all of its threads. */
export function cpuMsOfProcess(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) => {
    const [computed] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ');
    return Number(computed);
  });
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}
