/**
 * Something tools use through the context whose changes belong to the call's transaction.
 * Any other value may be a resource too; what a tool does to that one is not undone.
 */
export interface StagedResource<View = unknown, ReadOnlyView = unknown> {
  readonly type: 'staged-resource';
  /** What policies see: the committed content, reading only. */
  readonly readOnly: ReadOnlyView;
  /** Opens the staged view of one call. */
  begin(callId: string): ResourceTransaction<View, ReadOnlyView>;
  /** Marks of prepared changes that were neither applied nor dropped, because their process has ended. */
  unsettled?(): Promise<readonly string[]>;
  /**
   * Applies what was prepared under `mark` (`committed`), or drops it; what was applied in part is completed or put back. May be
   * called again.
   */
  recover?(mark: string, committed: boolean): Promise<void>;
}

/**
 * The part that one resource has in one call: prepare before the call's commit record, commit after it, or discard.
 * To a call nested in that one it is what the resource is to a call: `begin` opens a part that commits into this one.
 */
export interface ResourceTransaction<View = unknown, ReadOnlyView = unknown> {
  readonly view: View;
  /** What policies of a nested call see: the content with what is staged here, reading only. */
  readonly readOnly: ReadOnlyView;
  /** Opens the staged view of a nested call. One that has not ended when this one does is discarded with it. */
  begin(callId: string): ResourceTransaction<View, ReadOnlyView>;
  /** What the call has read and written so far. */
  touched(): Touched;
  /** The tool is done: from now on the view refuses whatever is asked of it (`context.closed`). Comes before `touched` and `prepare`. */
  seal(): void;
  /**
   * Makes sure that `commit` can succeed; throwing fails the call. `mark`, at most 1,024 characters that no other call has, is what
   * `recover` is asked by when the process ends before `commit` has; absent for a nested call.
   */
  prepare(mark?: string): void | Promise<void>;
  commit(): void | Promise<void>;
  discard(): void | Promise<void>;
}

/** Keys that a call read and wrote, with the versions it met. `null` stands for absent. */
export interface Touched {
  readonly reads: readonly { readonly key: string; readonly version: string | null }[];
  readonly writes: readonly { readonly key: string; readonly before: string | null; readonly after: string | null }[];
}

/** Whether changes to `value` belong to a call's transaction. */
export function isStagedResource(value: unknown): value is StagedResource {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'staged-resource';
}
