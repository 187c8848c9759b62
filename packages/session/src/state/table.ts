import { HoldfastError, type Slice } from '@holdfast/core';
import { copyJson, ReadOnlyMap } from '@holdfast/core/internal';
import { isSameShape, sliceConflict, toDeclaration } from './declaration.ts';
import { PersistentMap } from './persistent-map.ts';
import { checkState, handOut, initialState, type SliceState, toMap } from './slice.ts';

interface Cell {
  slice: Slice;
  state: SliceState;
}

/** The executor's slice. A person's grant holds for its session until it is withdrawn. */
export const grantsId = 'holdfast/grants';

/** The slices of a session and their committed states, independent of the log. */
export class SliceTable {
  /** Slices with reducers, in registration order. */
  readonly reducing: Slice[] = [];
  /** Slices that no record declares yet, in order. */
  readonly unnoted: Slice[] = [];
  readonly #cells = new Map<string, Cell>();
  readonly #byEvent = new Map<string, Slice[]>();
  /** Ids of slices whose state came from a log or an export and was not validated by a schema. */
  readonly #unchecked = new Set<string>();

  /** @throws HoldfastError `slice.invalid`, also if an unvalidated state does not fit the schema. */
  register(slice: Slice): void {
    const cell = this.#cells.get(slice.id);
    if (cell === undefined) {
      this.add(slice, slice.reducers.keys());
      this.unnoted.push(slice);
      return;
    }
    const known = cell.slice;
    if (known === slice) return;
    // Policies recreated for every run declare equal slices: the same data without reducers is the same slice.
    if (known.reducers.size + slice.reducers.size > 0) throw sliceConflict(slice.id, 'rename one');
    if (!isSameShape(toDeclaration(known), slice))
      throw sliceConflict(slice.id, 'they differ in kind, retention or initial value');
    if (slice.schema !== undefined && this.#unchecked.has(slice.id)) {
      checkState(slice, cell.state);
      this.#unchecked.delete(slice.id);
    }
    cell.slice = slice;
  }

  /** Adds a slice without declaring it; it handles only `events`. */
  add(slice: Slice, events: Iterable<string>, state: SliceState = initialState(slice)): void {
    if (slice.initial !== undefined && !copyJson(slice.initial).ok) {
      throw new HoldfastError('slice.invalid', `The initial value of slice \`${slice.id}\` is not JSON.`, {
        data: { reason: 'value.invalid' },
      });
    }
    this.#cells.set(slice.id, { slice, state });
    if (slice.reducers.size > 0) this.reducing.push(slice);
    for (const type of events) this.listen(slice, type);
  }

  listen(slice: Slice, type: string): void {
    const listening = this.#byEvent.get(type);
    if (listening === undefined) this.#byEvent.set(type, [slice]);
    else if (!listening.includes(slice)) listening.push(slice);
  }

  get(id: string): Slice | undefined {
    return this.#cells.get(id)?.slice;
  }

  /** In registration order. */
  get slices(): readonly Slice[] {
    return [...this.#cells.values()].map(({ slice }) => slice);
  }

  /** The state of a slice; registers a new one. */
  stateOf(slice: Slice): SliceState {
    const cell = this.#cells.get(slice.id);
    if (cell !== undefined && cell.slice === slice) return cell.state;
    this.register(slice);
    return this.#cells.get(slice.id)?.state ?? null;
  }

  listeningTo(type: string): readonly Slice[] {
    return this.#byEvent.get(type) ?? [];
  }

  setState(id: string, state: SliceState): void {
    const cell = this.#cells.get(id);
    if (cell !== undefined) cell.state = state;
  }

  /** Sets a state that no reducer produced. */
  setData(slice: Slice, state: SliceState): void {
    this.setState(slice.id, state);
    if (slice.schema === undefined) this.#unchecked.add(slice.id);
  }

  /** All current states; costs one step per slice, whatever they hold. */
  copyStates(): ReadonlyMap<string, SliceState> {
    const states = new Map<string, SliceState>();
    for (const [id, { state }] of this.#cells) states.set(id, state);
    return states;
  }

  /** As `copyStates`, frozen for callers. */
  handOutStates(): ReadonlyMap<string, SliceState> {
    return new ReadOnlyMap([...this.copyStates()].map(([id, state]) => [id, handOut(state)]));
  }

  /**
   * Restores `state` slices to `states`, or to their initial values if missing there; `log` slices keep their items. Grants withdrawn
   * meanwhile stay withdrawn.
   */
  restore(states: ReadonlyMap<string, SliceState>): void {
    for (const [id, cell] of this.#cells) {
      if (cell.slice.retention !== 'state') continue;
      const state = states.get(id) ?? initialState(cell.slice);
      cell.state = id === grantsId ? inBoth(state, cell.state) : state;
    }
  }

  /** A copy with the same slices and states for another session. */
  fork(): SliceTable {
    const forked = new SliceTable();
    for (const { slice, state } of this.#cells.values()) forked.add(slice, slice.reducers.keys(), state);
    for (const id of this.#unchecked) forked.#unchecked.add(id);
    return forked;
  }
}

function inBoth(before: SliceState, now: SliceState): SliceState {
  if (!(before instanceof PersistentMap && now instanceof PersistentMap)) return before;
  return toMap([...before].filter(([key, item]) => now.get(key) === item));
}
