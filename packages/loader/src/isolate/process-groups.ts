import { killTagged } from '../child/tagged-programs.ts';

// A program that is about to become another one shows no environment for a moment. And many that end need one look only.
const sweepMs = 50;

/** Process groups of tools, for whoever has to see to it that nothing of them outlives this process. */
export class ProcessGroups {
  /** By its leader, the tag of what has been started in it. */
  readonly #tags = new Map<number, string>();
  /** Of groups that have ended, and what has left them may not have. */
  #ended: string[] = [];
  readonly #endAll = (): void => {
    for (const leader of this.#tags.keys()) killGroup(leader);
    killTagged([...this.#tags.values(), ...this.#ended]);
  };

  add(leader: number, tag: string): void {
    // One listener, and only while there is something to kill.
    if (this.#isEmpty()) process.on('exit', this.#endAll);
    this.#tags.set(leader, tag);
  }

  /** Kills what is in the group, and, on Linux, soon what has left it. */
  end(leader: number): void {
    const tag = this.#tags.get(leader);
    if (tag === undefined) return;
    this.#tags.delete(leader);
    killGroup(leader);
    if (this.#ended.push(tag) === 1) setTimeout(() => this.#sweep(), sweepMs).unref();
  }

  #sweep(): void {
    killTagged(this.#ended);
    this.#ended = [];
    if (this.#isEmpty()) process.off('exit', this.#endAll);
  }

  #isEmpty(): boolean {
    return this.#tags.size + this.#ended.length === 0;
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
