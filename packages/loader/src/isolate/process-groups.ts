import { killTagged } from '../child/tagged-programs.ts';

// A program in the middle of `exec` briefly shows no environment. Also batches many ends into one scan.
const sweepMs = 50;

/** Tracks the process groups of tools and kills them when this process exits. */
export class ProcessGroups {
  /** The tag of each group, by its leader. */
  readonly #tags = new Map<number, string>();
  /** Tags of ended groups, whose escaped programs may still run. */
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

  /** Kills a group and, on Linux, soon afterwards the programs that left it. */
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

/** Kills a process group at once. */
export function killGroup(leader: number): void {
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
