/** Scales a count of a long suite: `base` times `HOLDFAST_LONG`, a positive number, default 1. */
export function amount(base: number): number {
  const factor = Number(process.env['HOLDFAST_LONG'] ?? 1);
  if (!(factor > 0 && Number.isFinite(factor))) {
    throw new Error(`\`HOLDFAST_LONG\` must be a positive number, got \`${process.env['HOLDFAST_LONG']}\`.`);
  }
  return Math.ceil(base * factor);
}

/** Calls `batch` until `total` is done, and prints the progress after each. `batch` returns the amount it did. */
export async function inBatches(what: string, total: number, batch: () => Promise<number>): Promise<void> {
  const startedAtMs = Date.now();
  for (let done = 0; done < total; ) {
    done += await batch();
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    console.log(`${what}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} after ${seconds} s`);
  }
}
