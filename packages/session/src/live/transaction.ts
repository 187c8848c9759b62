import { HoldfastError, type Json, type Operation, type SessionEvent, type Slice } from '@holdfast/core';
import type { LogEntry } from '../log/log.ts';
import { readChange } from '../state/recorded-change.ts';
import { copyEvent, reduceEvent } from '../state/reduce.ts';
import { applyChange, type Change, checkOperation, handOut, type SliceState } from '../state/slice.ts';
import type { SessionTransaction, TransactionRoot } from './session-transaction.ts';

/** The staged state of one slice. */
interface StagedState {
  readonly slice: Slice;
  /** The underlying state that `state` was computed from. */
  base: SliceState;
  state: SliceState;
  /** False until something is staged. */
  counts: boolean;
}

/** Types of records that may change state. */
const committable: ReadonlySet<string> = new Set(['tool-call-end', 'feedback', 'event']);

export class StagedTransaction implements SessionTransaction {
  readonly #root: TransactionRoot;
  readonly #parent: StagedTransaction | undefined;
  #events: SessionEvent[] | undefined;
  #changes: Change[] | undefined;
  // A list, because calls change few slices. Keyed by id: policies recreated for every run bring equal slices that are other objects.
  #staged: StagedState[] | undefined;
  /** An index for calls that change many slices. */
  #stagedById: Map<string, StagedState> | undefined;
  /** Number of the root's reducing slices that the staged events have reached. */
  #met: number;
  #open = true;

  constructor(root: TransactionRoot, parent?: StagedTransaction) {
    this.#root = root;
    this.#parent = parent;
    this.#met = root.table.reducing.length;
  }

  get events(): readonly SessionEvent[] {
    return this.#events ?? none;
  }

  get changes(): readonly Json[] {
    return this.#changes ?? none;
  }

  read<State>(slice: Slice<State>): State {
    this.#checkOpen();
    // Its definition determines the type of a slice's state; `checkOperation` has checked every item.
    return handOut(this.#stateOf(slice)) as State;
  }

  dispatch(event: SessionEvent): void {
    this.#checkOpen();
    this.#catchUp();
    const { redactor } = this.#root;
    const copied = copyEvent(event);
    const reduced = redactor === undefined ? copied : redactor.maskEvent(copied);
    const slices = this.#root.table.listeningTo(reduced.type);
    if (slices.length === 0) {
      throw new HoldfastError(
        'event.invalid',
        `No slice of the session listens to \`${reduced.type}\`; pass its slice to \`createSession\`.`,
        { data: { reason: 'unhandled' } },
      );
    }
    const [first] = slices;
    if (slices.length === 1 && first !== undefined) {
      const staged = this.#stagedOf(first);
      this.#stage(staged, reduceEvent(first, staged.state, reduced));
    } else {
      // All slices or none: nothing is staged until every reducer has returned.
      const staged = slices.map((slice) => this.#stagedOf(slice));
      const states = staged.map(({ slice, state }) => reduceEvent(slice, state, reduced));
      for (const [index, state] of states.entries()) this.#stage(staged[index] as StagedState, state);
    }
    this.#events ??= [];
    this.#events.push(reduced);
  }

  publish(event: SessionEvent): void {
    this.#checkOpen();
    this.#root.publish(event);
  }

  apply(slice: Slice, operations: readonly Operation[]): void {
    this.#checkOpen();
    if (operations.length === 0) return;
    if (slice.reducers.size > 0) {
      throw new HoldfastError(
        'slice.invalid',
        `The slice \`${slice.id}\` has reducers, so it changes by events only; dispatch one.`,
        { data: { reason: 'operation.invalid' } },
      );
    }
    const staged = this.#stagedOf(slice);
    const changes: Change[] = [];
    const { redactor } = this.#root;
    let { state } = staged;
    for (const operation of operations) {
      const change = checkOperation(slice, redactor === undefined ? operation : redactor.maskOperation(operation));
      state = applyChange(slice, state, change);
      changes.push(change);
    }
    this.#stage(staged, state);
    if (this.#changes === undefined) this.#changes = changes;
    else for (const change of changes) this.#changes.push(change);
  }

  reapply(changes: readonly Json[]): void {
    this.#checkOpen();
    for (const json of changes) {
      const read = readChange(json, this.#root.table);
      if (read === undefined) {
        throw new HoldfastError(
          'session.invalid',
          `Cannot re-apply: not a valid change for this slice: ${JSON.stringify(json).slice(0, 200)}.`,
          { data: { reason: 'change' } },
        );
      }
      const staged = this.#stagedOf(read.slice);
      // Already output of the schema, which may reject it.
      const change = checkOperation({ ...read.slice, schema: undefined }, read.operation);
      this.#stage(staged, applyChange(read.slice, staged.state, change));
      this.#changes ??= [];
      this.#changes.push(change);
    }
  }

  begin(): SessionTransaction {
    this.#checkOpen();
    return new StagedTransaction(this.#root, this);
  }

  commit(entry: LogEntry): void {
    this.#checkOpen();
    this.#checkEntry(entry);
    this.#catchUp();
    const masked = this.#takeMasks(entry);
    for (const staged of this.#staged ?? none) this.#rebase(staged, this.#stateBelow(staged.slice));
    // `parentId` alone does not tell: a child session's call has a parent, yet commits on its own.
    // The record comes first: if the store rejects it, nothing has changed.
    const noted = this.#root.append(this.#parent === undefined ? masked : { ...masked, nested: true });
    this.#open = false;
    if (this.#parent !== undefined) this.#parent.#merge(this);
    else for (const { slice, state } of this.#staged ?? none) this.#root.table.setState(slice.id, state);
    this.#root.notify(noted);
  }

  discard(): void {
    this.#open = false;
    this.#staged = undefined;
    this.#stagedById = undefined;
  }

  get #ended(): boolean {
    if (!this.#open) return true;
    return this.#parent === undefined ? false : this.#parent.#ended;
  }

  #checkOpen(): void {
    if (this.#ended)
      throw new HoldfastError('context.closed', 'The call has ended: its session can no longer be used.');
  }

  // A record without the staged changes would rebuild a different state.
  #checkEntry({ type, events, changes }: LogEntry): void {
    const whole = lengthOf(events) === this.events.length && lengthOf(changes) === this.changes.length;
    if (whole && committable.has(type)) return;
    throw new HoldfastError(
      'session.invalid',
      `A commit entry must have the type \`tool-call-end\`, \`feedback\` or \`event\` and hold the transaction's \`events\` and \`changes\`, got \`${type}\` with ${lengthOf(events)} of ${this.events.length} events and ${lengthOf(changes)} of ${this.changes.length} changes.`,
      { data: { reason: 'commit.entry' } },
    );
  }

  /** Masks the entry, and changes staged before one of its secrets was known: the state must match the record. */
  #takeMasks(entry: LogEntry): LogEntry {
    const { redactor } = this.#root;
    if (redactor === undefined) return entry;
    const masked = redactor.maskRecord(entry);
    if (masked['events'] === entry['events'] && masked['changes'] === entry['changes']) return masked;
    // `checkEntry` has verified that both are complete; the items differ only by masks.
    if (this.#events !== undefined)
      this.#events = [...(masked['events'] as readonly Json[])] as unknown as SessionEvent[];
    if (this.#changes !== undefined) this.#changes = [...(masked['changes'] as readonly Json[])] as unknown as Change[];
    for (const staged of this.#staged ?? none) staged.state = this.#reapply(staged.slice, staged.base, false);
    return masked;
  }

  #stateBelow(slice: Slice): SliceState {
    return this.#parent === undefined ? this.#root.table.stateOf(slice) : this.#parent.#stateOf(slice);
  }

  #stateOf(slice: Slice): SliceState {
    const below = this.#stateBelow(slice); // Also registers the slice.
    this.#catchUp();
    const staged = this.#find(slice.id);
    if (staged === undefined) return below;
    // Published events are visible at once, also to a transaction that has staged changes of the slice.
    if (slice.retention === 'log') this.#rebase(staged, below);
    return staged.state;
  }

  /** The staged state of the slice, or a new one that takes effect with `#stage`. */
  #stagedOf(slice: Slice): StagedState {
    const below = this.#stateBelow(slice);
    const staged = this.#find(slice.id);
    if (staged === undefined) return { slice, base: below, state: below, counts: false };
    if (slice.retention === 'log') this.#rebase(staged, below);
    return staged;
  }

  /** Also for an event that changed nothing: after a concurrent commit it may. */
  #stage(staged: StagedState, state: SliceState): void {
    staged.state = state;
    if (staged.counts) return;
    staged.counts = true;
    if (this.#staged === undefined) this.#staged = [staged];
    else this.#staged.push(staged);
    if (this.#stagedById !== undefined) this.#stagedById.set(staged.slice.id, staged);
    else if (this.#staged.length === manyStaged)
      this.#stagedById = new Map(this.#staged.map((one) => [one.slice.id, one]));
  }

  #find(id: string): StagedState | undefined {
    if (this.#stagedById !== undefined) return this.#stagedById.get(id);
    for (const staged of this.#staged ?? none) if (staged.slice.id === id) return staged;
    return undefined;
  }

  /**
   * Applies the staged events to slices registered after them, as a replay would: every slice known at the commit is declared before
   * its record.
   */
  #catchUp(): void {
    const { reducing } = this.#root.table;
    for (; this.#met < reducing.length; this.#met += 1) {
      const slice = reducing[this.#met];
      if (slice !== undefined && this.#events?.some(({ type }) => slice.reducers.has(type))) {
        const staged = this.#stagedOf(slice);
        this.#stage(staged, this.#reapply(slice, staged.base));
      }
    }
  }

  /** Moves staged changes onto `below` if the state they were computed from has changed. */
  #rebase(staged: StagedState, below: SliceState): void {
    if (Object.is(staged.base, below)) return;
    staged.state = this.#reapply(staged.slice, below);
    staged.base = below;
  }

  // A slice changes either by events or without, so the order of the two does not matter.
  #reapply(slice: Slice, from: SliceState, moved = true): SliceState {
    let state = from;
    if (slice.reducers.size > 0) for (const event of this.#events ?? none) state = reduceEvent(slice, state, event);
    else
      for (const change of this.#changes ?? none)
        if (change.slice === slice.id) state = applyChange(slice, state, moved ? this.#checkRelative(change) : change);
    return state;
  }

  /** Rejects a whole value computed from an outdated one, which would undo a concurrent change. */
  #checkRelative(change: Change): Change {
    if (change.op !== 'replace' && change.op !== 'clear') return change;
    throw new HoldfastError(
      'commit.conflict',
      `\`${change.slice}\` was changed concurrently while this call replaced its whole value. Nothing was changed; call again.`,
      { data: { slice: change.slice } },
    );
  }

  /** Adopts the staged changes of a nested transaction. */
  #merge(nested: StagedTransaction): void {
    for (const { slice, state } of nested.#staged ?? none) this.#stage(this.#stagedOf(slice), state);
    this.#events = joined(this.#events, nested.#events);
    this.#changes = joined(this.#changes, nested.#changes);
  }
}

const manyStaged = 16;
const none: readonly never[] = Object.freeze([]);

function lengthOf(items: Json | undefined): number {
  return Array.isArray(items) ? items.length : 0;
}

function joined<Item>(first: Item[] | undefined, second: readonly Item[] | undefined): Item[] | undefined {
  if (second === undefined) return first;
  const items = first ?? [];
  for (const item of second) items.push(item);
  return items;
}
