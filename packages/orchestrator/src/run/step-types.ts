import type { Outcome } from '@holdfast/core';
import type { Suspended } from '@holdfast/executor';
import type { EndOfLife } from '@holdfast/executor/internal';
import type { LockAnswer } from '../limits/lock-table.ts';
import type { Consequence } from '../trace/facts.ts';
import type { Stop } from './state.ts';

/** An event of a run. Nodes go by position. */
export type StepEvent =
  /** Its call exists from before: started, or waiting for approval. */
  | { readonly type: 'opened'; readonly position: number }
  /** It has ended, and the end is recorded. `ended`: if it halts the run, the reason why the run's time was already over, if so. */
  | {
      readonly type: 'settled';
      readonly position: number;
      readonly consequence: Consequence;
      readonly ended: EndOfLife | undefined;
    }
  /** Another node may start. Sent while `mayStart` is true. */
  | { readonly type: 'next' }
  /** It is ready for its call, which must wait `delayMs` for the rate limit. `locks: undefined`: it must run alone. */
  | {
      readonly type: 'prepared';
      readonly position: number;
      readonly locks: readonly string[] | undefined;
      readonly delayMs: number;
    }
  | { readonly type: 'lock-taken'; readonly position: number }
  | { readonly type: 'lock-awaited'; readonly position: number }
  | {
      readonly type: 'lock-answered';
      readonly position: number;
      readonly locks: readonly string[];
      readonly answer: LockAnswer;
    }
  /** It holds its locks after a wait: the current state. */
  | {
      readonly type: 'looked';
      readonly position: number;
      readonly delayMs: number;
      readonly ended: EndOfLife | undefined;
    }
  /** It has waited for the rate limit and may try again. */
  | { readonly type: 'woken'; readonly position: number }
  | { readonly type: 'returned'; readonly position: number; readonly outcome: Outcome | Suspended }
  /** Its call could not be made or resumed. `elsewhere`: the host is resuming it, or it cannot be resumed. */
  | { readonly type: 'lost'; readonly position: number; readonly thrown: unknown; readonly elsewhere: boolean }
  /** Its suspended call has been recorded. */
  | { readonly type: 'suspended'; readonly position: number }
  /** An open call was changed from outside; `answered` or `ended-elsewhere` follows in a later turn. */
  | { readonly type: 'heard'; readonly position: number; readonly isEnd: boolean }
  | { readonly type: 'answered'; readonly position: number }
  | { readonly type: 'ended-elsewhere' }
  /** The time of all calls is over. */
  | { readonly type: 'over'; readonly by: EndOfLife }
  /** A failure that ends the run, such as a log that cannot be written. */
  | { readonly type: 'broken'; readonly thrown: unknown }
  /** There is nothing else to do now. */
  | { readonly type: 'rest' };

/** The locks that other calls held for the maximum wait. */
export interface LockedOut {
  readonly type: 'locked-out';
  readonly locks: readonly string[];
}

/** A command to carry out, in order; its events may follow immediately or later. */
export type StepCommand =
  /** Results in `prepared`, or the same as `close`. */
  | { readonly type: 'prepare'; readonly position: number }
  /** Results in `lock-taken`, or in `lock-awaited` and later `lock-answered`. */
  | { readonly type: 'lock'; readonly position: number; readonly locks: readonly string[] }
  | { readonly type: 'release'; readonly position: number; readonly locks: readonly string[] }
  /** Results in `looked`. */
  | { readonly type: 'look'; readonly position: number }
  /** Results in `woken`, unless the rates are cleared first. */
  | { readonly type: 'wait-rate'; readonly position: number; readonly delayMs: number }
  | { readonly type: 'clear-rates' }
  /** Results in `returned` or `lost`. `isOpen`: the call is resumed. */
  | { readonly type: 'call'; readonly position: number; readonly isOpen: boolean }
  /** Resumes an open call whose time is over, so that it ends. Results in `returned` or `lost`. */
  | { readonly type: 'end-open'; readonly position: number }
  /** Results in `settled`. */
  | { readonly type: 'settle'; readonly position: number; readonly outcome: Outcome }
  /** Ends it without a call. Results in `settled`. */
  | { readonly type: 'close'; readonly position: number; readonly why: Stop | LockedOut }
  /** Watches its open call for changes from outside. */
  | { readonly type: 'watch'; readonly position: number }
  /** Results in `suspended`. */
  | { readonly type: 'note-open'; readonly position: number; readonly suspended: Suspended }
  /** Checks what has happened to its open call so far. */
  | { readonly type: 'check-open'; readonly position: number }
  /** Checks whether its open call has ended. */
  | { readonly type: 'check-end'; readonly position: number }
  /** Aborts all running calls. */
  | { readonly type: 'cancel' };
