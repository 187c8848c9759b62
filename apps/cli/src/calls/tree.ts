import type { LineStyle } from './line.ts';
import { enterChild, type Place, toCallKey, toParentKey, toRunKey } from './nesting.ts';

/** An event of a run or a record of a log: what of it tells where it stands. */
export interface TreeItem<Item> {
  readonly type: string;
  readonly callId?: string;
  readonly parentId?: string | undefined;
  readonly sessionId?: string;
  /** Of a `child-event`: what happened in the session of the child. */
  readonly event?: Item;
}

/** Something with all that happened inside of it. */
export interface Told<Item> {
  readonly item: Item;
  /** Of a run in the session of a child: its `run-start`. `item` is its `run-end`, or this again when it has none. */
  readonly opening?: Item;
  readonly under: readonly Told<Item>[];
}

/**
 * Puts what is nested in a call under it. A nested call ends before the one around it, so it is kept until that one ends: what
 * stands by itself comes out at once, with all that is under it.
 */
export class CallTree<Item extends TreeItem<Item>> {
  readonly #isShown: (item: Item) => boolean;
  /** By the key of the call or run that they are in. */
  readonly #waiting = new Map<string, Told<Item>[]>();
  readonly #runs = new Map<string, { readonly opening: Item; readonly around: string }>();

  /** `isShown`: whether an item is worth a line. Ends of calls and runs in sessions of children have to be. */
  constructor(isShown: (item: Item) => boolean) {
    this.#isShown = isShown;
  }

  /** What can be told now. */
  take(item: Item, place?: Place): readonly Told<Item>[] {
    const { type, callId, sessionId, event } = item;
    if (type === 'child-event') {
      const isWhole = callId !== undefined && sessionId !== undefined && event !== undefined;
      return isWhole ? this.take(event, enterChild(callId, sessionId, place)) : [];
    }
    if (!this.#isShown(item)) return [];
    if (place === undefined) {
      // What is left belongs to calls that have no end.
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

  /** What stands under calls and runs that have not ended. */
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

/** The lines of something, and indented under them those of what happened inside of it. */
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

/** Columns by which a level is moved; none where there would be no room left for a word. */
export function indentOf({ columns }: Pick<LineStyle, 'columns'>): number {
  return columns < 24 ? 0 : 2;
}
