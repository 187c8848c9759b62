const maxRemarks = 100_000;
// Characters, and for each message what it takes beside them.
const maxProgress = 2 * 1024 * 1024;
const messageCost = 100;

/** Makes a function that counts what a tool says of its progress in one call, and says whether there is room for that. */
export function limitProgress(max: number = maxProgress): (message: string) => boolean {
  let left = max;
  return (message) => {
    left -= message.length + messageCost;
    return left >= 0;
  };
}

/** Messages of one call that ask for nothing, as the host counts them: the program on the other side never sends so many. */
export class Remarks {
  #count = 0;
  // It says once that it says no more.
  readonly #hasRoom = limitProgress(maxProgress + 1_000);

  /** False when there have been too many. */
  add(progress?: string): boolean {
    this.#count += 1;
    return this.#count <= maxRemarks && (progress === undefined || this.#hasRoom(progress));
  }
}
