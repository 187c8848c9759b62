import type { Touched } from '@holdfast/core';
import { freezeOpen, ReadOnlyMap } from '@holdfast/core/internal';

type TouchedByResource = ReadonlyMap<string, Touched>;

/**
 * What nested calls that succeeded have read and written: policies have been told when those calls ended, and must not take it
 * for the doing of the call around them.
 */
export class NestedTouched {
  /** By resource: every key and what the last nested call left there. */
  readonly #left = new Map<string, Map<string, string | null>>();

  add(touched: TouchedByResource): void {
    for (const [resource, { reads, writes }] of touched) {
      let left = this.#left.get(resource);
      if (left === undefined) {
        left = new Map();
        this.#left.set(resource, left);
      }
      for (const { key, version } of reads) left.set(key, version);
      for (const { key, after } of writes) left.set(key, after);
    }
  }

  /** What the call around them has done itself, on top of what they left. */
  without(touched: TouchedByResource): TouchedByResource {
    return new Map(
      [...touched].map(([resource, { reads, writes }]) => {
        const left = this.#left.get(resource);
        if (left === undefined) return [resource, { reads, writes }];
        return [
          resource,
          {
            reads: reads.filter(({ key }) => !left.has(key)),
            writes: writes.flatMap((write) => {
              const before = left.get(write.key);
              if (before === undefined) return [write];
              return before === write.after ? [] : [{ ...write, before }];
            }),
          },
        ];
      }),
    );
  }
}

/** What others may keep, and cannot change. */
export function freezeTouched(touched: TouchedByResource): TouchedByResource {
  if (touched instanceof ReadOnlyMap) return touched;
  return new ReadOnlyMap(
    [...touched].map(([name, { reads, writes }]) => [
      name,
      freezeOpen({ reads: reads.map((read) => ({ ...read })), writes: writes.map((write) => ({ ...write })) }),
    ]),
  );
}
