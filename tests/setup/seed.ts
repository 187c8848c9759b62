import fc from 'fast-check';

declare module 'vitest' {
  interface ProvidedContext {
    /** 0 in `npm test`; in `npm run long` the scale of large counts: `HOLDFAST_LONG`, default 1. */
    readonly long: number;
  }
}

/** `HOLDFAST_SEED`, or 1: every run draws the same numbers. `npm run long` picks a new seed and prints it. */
export const seed: number = Number(process.env['HOLDFAST_SEED'] ?? 1);
if (!Number.isSafeInteger(seed)) {
  throw new Error(`\`HOLDFAST_SEED\` must be an integer, got \`${process.env['HOLDFAST_SEED']}\`.`);
}
fc.configureGlobal({ seed });
