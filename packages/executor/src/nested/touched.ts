import type { Touched } from '@holdfast/core/types';

export type TouchedByResource = ReadonlyMap<string, Touched>;

/** Reads and writes of successful nested calls. Policies saw them when those calls ended, so they are not attributed to the outer call. */
export class NestedTouched {
  /** By resource: every key, and the value after the last nested call. */
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

  /** The outer call's own reads and writes. */
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
