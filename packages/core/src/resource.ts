/**
 * Something tools use through the context whose changes belong to the call's transaction.
 * Any other value may be a resource too; what a tool does to that one is not undone.
 */
export interface StagedResource<View = unknown, ReadOnlyView = unknown> {
  readonly type: 'staged-resource';
  /** What policies see: the committed content, reading only. */
  readonly readOnly: ReadOnlyView;
  /** Opens the staged view of one call. */
  begin(callId: string): ResourceTransaction<View>;
}

/** The part that one resource has in one call: prepare before the call's commit record, commit after it, or discard. */
export interface ResourceTransaction<View = unknown> {
  readonly view: View;
  /** What the call has read and written so far. */
  touched(): Touched;
  /** Makes sure that `commit` can succeed; throwing fails the call. */
  prepare(): void | Promise<void>;
  commit(): void | Promise<void>;
  discard(): void | Promise<void>;
}

/** Keys that a call read and wrote, with the versions it met. `null` stands for absent. */
export interface Touched {
  readonly reads: readonly { readonly key: string; readonly version: string | null }[];
  readonly writes: readonly { readonly key: string; readonly before: string | null; readonly after: string | null }[];
}

export function isStagedResource(value: unknown): value is StagedResource {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'staged-resource';
}
