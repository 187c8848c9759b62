import type { CallFacts } from '@holdfast/core';
import type { Unclear } from '@holdfast/core/types';

export const noFacts: CallFacts = Object.freeze({
  runs: [],
  reads: [],
  writes: [],
  deletes: [],
  hosts: [],
  untrusted: false,
  unclear: [],
});

/** Joins facts. Renumbers the positions in `after`. */
export function joinFacts(all: readonly CallFacts[]): CallFacts {
  let offset = 0;
  const runs = all.flatMap((facts) => {
    const from = offset;
    offset += facts.runs.length;
    return facts.runs.map((command) => ({ ...command, after: command.after.map((position) => position + from) }));
  });
  return {
    runs,
    reads: all.flatMap(({ reads }) => reads),
    writes: all.flatMap(({ writes }) => writes),
    deletes: all.flatMap(({ deletes }) => deletes),
    hosts: all.flatMap(({ hosts }) => hosts),
    untrusted: all.some(({ untrusted }) => untrusted),
    unclear: all.flatMap(({ unclear }) => unclear),
  };
}

/** Facts of an unknown call. */
export function unclearFacts(unclear: Unclear): CallFacts {
  return { ...noFacts, unclear: [unclear] };
}
