import type { Outcome } from '@holdfast/core';
import type { EndOfLife, Suspended } from '@holdfast/executor';
import type { LockAnswer } from '../limits/lock-table.ts';
import type { Consequence } from '../trace/facts.ts';
import type { Stop } from './state.ts';

/** What happens in a run. Nodes go by their places. */
export type StepEvent =
  /** Its call was begun, or waits for a person, since before. */
  | { readonly type: 'opened'; readonly position: number }
  /** It has ended, and is noted. `ended`: why the time of all calls was over when it had to halt the run. */
  | {
      readonly type: 'settled';
      readonly position: number;
      readonly consequence: Consequence;
      readonly ended: EndOfLife | undefined;
    }
  /** One more may start. To be told while `mayStart` says so. */
  | { readonly type: 'next' }
  /** A call of it could be made, `delayMs` from now by the rate of its tool. Locks `undefined`: it runs alone. */
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
  /** It holds its locks, and has waited for them: how things are with it now. */
  | {
      readonly type: 'looked';
      readonly position: number;
      readonly delayMs: number;
      readonly ended: EndOfLife | undefined;
    }
  /** It has waited for the rate of its tool, and may ask again. */
  | { readonly type: 'woken'; readonly position: number }
  | { readonly type: 'returned'; readonly position: number; readonly outcome: Outcome | Suspended }
  /** Its call could not be made or gone on with. `elsewhere`: as the host does, or nobody can. */
  | { readonly type: 'lost'; readonly position: number; readonly thrown: unknown; readonly elsewhere: boolean }
  /** That its call waits has been noted. */
  | { readonly type: 'suspended'; readonly position: number }
  /** Somebody has changed an open call; what is to be done about it comes in a turn of its own, as `answered` or `ended-elsewhere`. */
  | { readonly type: 'heard'; readonly position: number; readonly isEnd: boolean }
  | { readonly type: 'answered'; readonly position: number }
  | { readonly type: 'ended-elsewhere' }
  /** The time of all calls is over. */
  | { readonly type: 'over'; readonly by: EndOfLife }
  /** The log cannot be written, say. */
  | { readonly type: 'broken'; readonly thrown: unknown }
  /** Nothing else can be done now. */
  | { readonly type: 'rest' };

/** Others have held these for as long as a node may wait. */
export interface LockedOut {
  readonly type: 'locked-out';
  readonly locks: readonly string[];
}

/** What has to be done, in order; each may have events come of it, at once or later. */
export type StepCommand =
  /** Comes to `prepared`, or as `close` does. */
  | { readonly type: 'prepare'; readonly position: number }
  /** Comes to `lock-taken`, or to `lock-awaited` and later `lock-answered`. */
  | { readonly type: 'lock'; readonly position: number; readonly locks: readonly string[] }
  | { readonly type: 'release'; readonly position: number; readonly locks: readonly string[] }
  /** Comes to `looked`. */
  | { readonly type: 'look'; readonly position: number }
  /** Comes to `woken`, unless the rates are cleared before. */
  | { readonly type: 'wait-rate'; readonly position: number; readonly delayMs: number }
  | { readonly type: 'clear-rates' }
  /** Comes to `returned` or `lost`. `isOpen`: it is resumed. */
  | { readonly type: 'call'; readonly position: number; readonly isOpen: boolean }
  /** Resumes an open call whose time is over, so that it ends. Comes to `returned` or `lost`. */
  | { readonly type: 'end-open'; readonly position: number }
  /** Comes to `settled`. */
  | { readonly type: 'settle'; readonly position: number; readonly outcome: Outcome }
  /** Ends it without a call. Comes to `settled`. */
  | { readonly type: 'close'; readonly position: number; readonly why: Stop | LockedOut }
  /** Hears from now on what others do to its open call. */
  | { readonly type: 'watch'; readonly position: number }
  /** Comes to `suspended`. */
  | { readonly type: 'note-open'; readonly position: number; readonly suspended: Suspended }
  /** Hears what has been done to its open call until now. */
  | { readonly type: 'check-open'; readonly position: number }
  /** What is under way is told to stop. */
  | { readonly type: 'cancel' };
