import { killMarked } from './marked-programs.ts';

/** Process groups of tools, for whoever has to see to it that nothing of them outlives this process. */
export class ProcessGroups {
  /** By its leader, the mark of what has been started in it. */
  readonly #marks = new Map<number, string>();
  readonly #endAll = (): void => {
    for (const leader of this.#marks.keys()) killGroup(leader);
    killMarked([...this.#marks.values()]);
  };

  add(leader: number, mark: string): void {
    // One listener, and only while there is something to kill.
    if (this.#marks.size === 0) process.on('exit', this.#endAll);
    this.#marks.set(leader, mark);
  }

  /** Kills what is in the group, and, on Linux, what has left it. */
  end(leader: number): void {
    const mark = this.#marks.get(leader);
    if (mark === undefined) return;
    this.#marks.delete(leader);
    if (this.#marks.size === 0) process.off('exit', this.#endAll);
    killGroup(leader);
    killMarked([mark]);
  }
}

/** Ends a process group at once. */
export function killGroup(leader: number): void {
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
