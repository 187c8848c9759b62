import type { LineStyle } from './line.ts';
import { enterChild, type Place, toCallKey, toParentKey, toRunKey } from './nesting.ts';

/** An event of a run or a record of a log, reduced to what determines its place in the tree. */
export interface TreeItem<Item> {
  readonly type: string;
  readonly callId?: string;
  readonly parentId?: string | undefined;
  readonly sessionId?: string;
  /** For a `child-event`: the event of the child session. */
  readonly event?: Item;
}

/** An item with everything nested in it. */
export interface Told<Item> {
  readonly item: Item;
  /** For a run in a child session: its `run-start`. `item` is its `run-end`, or the `run-start` if it has none. */
  readonly opening?: Item;
  readonly under: readonly Told<Item>[];
}

/**
 * Puts nested calls under their parents. A nested call ends before its parent, so it is held until the parent ends; a top-level item
 * is returned at once with everything under it.
 */
export class CallTree<Item extends TreeItem<Item>> {
  readonly #isShown: (item: Item) => boolean;
  /** By the key of the enclosing call or run. */
  readonly #waiting = new Map<string, Told<Item>[]>();
  readonly #runs = new Map<string, { readonly opening: Item; readonly around: string }>();

  /** `isShown`: true if an item gets a line. Must be true for ends of calls and of runs in child sessions. */
  constructor(isShown: (item: Item) => boolean) {
    this.#isShown = isShown;
  }

  /** Returns the items that are complete now. */
  take(item: Item, place?: Place): readonly Told<Item>[] {
    const { type, callId, sessionId, event } = item;
    if (type === 'child-event') {
      const isWhole = callId !== undefined && sessionId !== undefined && event !== undefined;
      return isWhole ? this.take(event, enterChild(callId, sessionId, place)) : [];
    }
    if (!this.#isShown(item)) return [];
    if (place === undefined) {
      // The rest belongs to calls without an end.
      if (type === 'run-end') return [...this.rest(), { item, under: [] }];
    } else if (type === 'run-start') {
      const left = this.#endRun(toRunKey(place));
      this.#runs.set(toRunKey(place), { opening: item, around: place.around });
      return left;
    } else if (type === 'run-end') {
      return this.#endRun(toRunKey(place), item);
    }
    const under = type === 'tool-call-end' && callId !== undefined ? this.#collect(toCallKey(callId, place)) : [];
    return this.#put(
      { item, under },
      toParentKey(item, place, (run) => this.#runs.has(run)),
    );
  }

  /** Everything under calls and runs that have not ended. */
  rest(): readonly Told<Item>[] {
    for (const run of this.#runs.keys()) this.#endRun(run);
    const left = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    return left;
  }

  #endRun(key: string, item?: Item): readonly Told<Item>[] {
    const run = this.#runs.get(key);
    if (run === undefined) return [];
    this.#runs.delete(key);
    const { opening, around } = run;
    return this.#put({ item: item ?? opening, opening, under: this.#collect(key) }, around);
  }

  #collect(key: string): readonly Told<Item>[] {
    for (const [run, { around }] of this.#runs) if (around === key) this.#endRun(run);
    const under = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    return under;
  }

  #put(told: Told<Item>, parent: string | undefined): readonly Told<Item>[] {
    if (parent === undefined) return [told];
    const siblings = this.#waiting.get(parent);
    if (siblings === undefined) this.#waiting.set(parent, [told]);
    else siblings.push(told);
    return [];
  }
}

/** The lines of an item, followed by the indented lines of everything nested in it. */
export function formatTold<Item>(
  told: Told<Item>,
  style: LineStyle,
  describe: (told: Told<Item>, style: LineStyle, depth: number) => readonly string[],
  depth = 0,
): readonly string[] {
  const lines = describe(told, style, depth);
  if (told.under.length === 0) return lines;
  const indent = ' '.repeat(indentOf(style));
  const inner = { ...style, columns: style.columns - indent.length };
  return [
    ...lines,
    ...told.under.flatMap((one) => formatTold(one, inner, describe, depth + 1)).map((line) => `${indent}${line}`),
  ];
}

/** Indentation per level; 0 if the terminal is too narrow. */
export function indentOf({ columns }: Pick<LineStyle, 'columns'>): number {
  return columns < 24 ? 0 : 2;
}
