import { randomFillSync } from 'node:crypto';

const stateBytes = 16;
const filled = Buffer.alloc(stateBytes * 256);
let used = filled.length;

/** A random `requestState` of 128 bits. Asking the system for each one would take as long as the log of a call. */
export function newRequestState(): string {
  if (used === filled.length) {
    randomFillSync(filled);
    used = 0;
  }
  used += stateBytes;
  return filled.toString('hex', used - stateBytes, used);
}
