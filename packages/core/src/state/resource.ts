/**
 * A resource whose changes belong to the call's transaction.
 * Any other value may be a resource, too, but changes to it are not undone.
 */
export interface StagedResource<View = unknown, ReadOnlyView = unknown> {
  readonly type: 'staged-resource';
  /** The policies' view: the committed content, read-only. */
  readonly readOnly: ReadOnlyView;
  /** Opens the staged view of one call. */
  begin(callId: string): ResourceTransaction<View, ReadOnlyView>;
  /** Marks of prepared changes that were neither applied nor dropped because their process ended. */
  unsettled?(): Promise<readonly string[]>;
  /**
   * Applies the changes prepared under `mark` (`committed`), or drops them; partially applied changes are completed or rolled back. May be
   * called again.
   */
  recover?(mark: string, committed: boolean): Promise<void>;
}

/**
 * A resource's part in one call: prepared before the call's commit record, committed after it, or discarded.
 * For nested calls it acts as a resource: `begin` opens a part that commits into this one.
 */
export interface ResourceTransaction<View = unknown, ReadOnlyView = unknown> {
  readonly view: View;
  /** The view of nested calls' policies: the content with changes staged here, read-only. */
  readonly readOnly: ReadOnlyView;
  /** Opens the staged view of a nested call. One still open when this one ends is discarded with it. */
  begin(callId: string): ResourceTransaction<View, ReadOnlyView>;
  /** The call's reads and writes so far. */
  touched(): Touched;
  /** Called when the tool is done: the view then rejects all access (`context.closed`). Comes before `touched` and `prepare`. */
  seal(): void;
  /**
   * Makes sure that `commit` can succeed; an error fails the call. `mark`, unique and at most 1,024 characters, is passed to `recover` if the
   * process ends before `commit` completes; absent for a nested call.
   */
  prepare(mark?: string): void | Promise<void>;
  commit(): void | Promise<void>;
  discard(): void | Promise<void>;
}

/** The keys that a call read and wrote, with their versions. `null`: absent. */
export interface Touched {
  readonly reads: readonly { readonly key: string; readonly version: string | null }[];
  readonly writes: readonly { readonly key: string; readonly before: string | null; readonly after: string | null }[];
}

/** True if changes to `value` belong to a call's transaction. */
export function isStagedResource(value: unknown): value is StagedResource {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'staged-resource';
}
