import type { ModuleDiagnostic } from '../signature/problems.ts';

/**
 * The result of reloading a module.
 *
 * `module-skipped`: unchanged. `module-failed`: unusable; with `isKept`, its last good version stays in force. `module-removed`: no longer
 * in the manifest, or its file is gone. `manifest-failed`: missing or unusable; the last good one stays in force.
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

/** Counts of events. Each event counts in exactly one of the first four. */
export interface ModuleCounters {
  /** `module-added` and `module-changed`. */
  readonly reloaded: number;
  /** `module-failed` and `manifest-failed`. */
  readonly failed: number;
  readonly skipped: number;
  readonly removed: number;
  /** Events lost by slow readers, summed over readers. */
  readonly missed: number;
}

/** The counter of each type of event. */
export const counterOf: { readonly [Type in ModuleEvent['type']]: Exclude<keyof ModuleCounters, 'missed'> } = {
  'module-added': 'reloaded',
  'module-changed': 'reloaded',
  'module-skipped': 'skipped',
  'module-removed': 'removed',
  'module-failed': 'failed',
  'manifest-failed': 'failed',
};
