import type { ModuleDiagnostic } from '../signature/problems.ts';

/**
 * What has become of a module that may have changed.
 *
 * `module-skipped`: it was read, and is what it was. `module-failed`: it cannot be used as it is now; with `isKept` its last good version
 * stays in force. `module-removed`: the manifest names it no more, or its file is gone. `manifest-failed`: it is missing or cannot be
 * used, so that the last good one stays in force.
 */
export type ModuleEvent =
  | { readonly type: 'module-added' | 'module-changed'; readonly moduleId: string }
  | { readonly type: 'module-skipped' | 'module-removed'; readonly moduleId: string }
  | {
      readonly type: 'module-failed';
      readonly moduleId: string;
      readonly diagnostics: readonly ModuleDiagnostic[];
      readonly isKept: boolean;
    }
  | { readonly type: 'manifest-failed'; readonly diagnostics: readonly ModuleDiagnostic[] };

/** How many events there were, by what they mean. Every event is counted in exactly one of the first four. */
export interface ModuleCounters {
  /** `module-added` and `module-changed`. */
  readonly reloaded: number;
  /** `module-failed` and `manifest-failed`. */
  readonly failed: number;
  readonly skipped: number;
  readonly removed: number;
  /** Events that a reader was too slow for, summed over readers. */
  readonly missed: number;
}

/** What each type of event is counted as. */
export const counterOf: { readonly [Type in ModuleEvent['type']]: Exclude<keyof ModuleCounters, 'missed'> } = {
  'module-added': 'reloaded',
  'module-changed': 'reloaded',
  'module-skipped': 'skipped',
  'module-removed': 'removed',
  'module-failed': 'failed',
  'manifest-failed': 'failed',
};
