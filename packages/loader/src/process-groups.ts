import { killTagged } from './tagged-programs.ts';

/** Process groups of tools, for whoever has to see to it that nothing of them outlives this process. */
export class ProcessGroups {
  /** By its leader, the tag of what has been started in it. */
  readonly #tags = new Map<number, string>();
  readonly #endAll = (): void => {
    for (const leader of this.#tags.keys()) killGroup(leader);
    killTagged([...this.#tags.values()]);
  };

  add(leader: number, tag: string): void {
    // One listener, and only while there is something to kill.
    if (this.#tags.size === 0) process.on('exit', this.#endAll);
    this.#tags.set(leader, tag);
  }

  /** Kills what is in the group, and, on Linux, what has left it. */
  end(leader: number): void {
    const tag = this.#tags.get(leader);
    if (tag === undefined) return;
    this.#tags.delete(leader);
    if (this.#tags.size === 0) process.off('exit', this.#endAll);
    killGroup(leader);
    killTagged([tag]);
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
