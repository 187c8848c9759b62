import type { Edges } from '../plan/positions.ts';
import { Schedule } from './schedule.ts';
import type { Stop } from './state.ts';
import type { StepCommand, StepEvent } from './step-types.ts';

/** The state of a run. Only `step` changes it. */
export interface RunState {
  readonly schedule: Schedule;
  readonly maxConcurrency: number;
  /** Calls that have not ended and are not running here: they wait for approval, or to be resumed. */
  readonly open: Set<number>;
  /** Open calls that were ended from outside, which has not been recorded yet. */
  readonly leaving: Set<number>;
  /** Ready nodes that wait for their locks or the rate limit of their tool, with their locks. */
  readonly waiting: Map<number, readonly string[] | undefined>;
  /** The locks of running calls. */
  readonly held: Map<number, readonly string[]>;
  running: number;
  /** True while a node runs that must run alone. */
  alone: boolean;
  /** True while the first ready node waits to run alone. */
  clearing: boolean;
  /** The number of events that are due in a later turn: ends of calls, locks, changes from outside. */
  awaited: number;
  /** The number of nodes that wait for a rate limit. */
  rated: number;
  stop: Stop | undefined;
  broken: { readonly thrown: unknown } | undefined;
}

export function startState(edges: Edges, maxConcurrency: number): RunState {
  return {
    schedule: new Schedule(edges),
    maxConcurrency,
    open: new Set(),
    leaving: new Set(),
    waiting: new Map(),
    held: new Map(),
    running: 0,
    alone: false,
    clearing: false,
    awaited: 0,
    rated: 0,
    stop: undefined,
    broken: undefined,
  };
}

export function mayStart({ running, maxConcurrency, alone, clearing, stop, broken }: RunState): boolean {
  return running < maxConcurrency && !alone && !clearing && stop === undefined && broken === undefined;
}

/** True if no further event can occur. */
export function isDone({ awaited, rated }: RunState): boolean {
  return awaited === 0 && rated === 0;
}

const nothing: readonly StepCommand[] = Object.freeze([]);

/**
 * Returns the commands for an event. Reads and changes only the state. A node acquires its slot, its locks and its rate limit together, and
 * holds none of them while it waits for another.
 */
export function step(state: RunState, event: StepEvent): readonly StepCommand[] {
  const { schedule, open } = state;
  if (event.type !== 'next' && event.type !== 'prepared') state.clearing = false;
  switch (event.type) {
    case 'opened':
      open.add(event.position);
      return [{ type: 'watch', position: event.position }];
    case 'settled':
      return settle(state, event);
    case 'next': {
      let position = schedule.next();
      while (position !== undefined && state.leaving.has(position)) position = schedule.next();
      return position === undefined ? nothing : [{ type: 'prepare', position }];
    }
    case 'prepared':
      return admit(state, event);
    case 'lock-taken':
      return call(state, event.position, state.waiting.get(event.position));
    case 'lock-awaited':
      state.awaited += 1;
      return nothing;
    case 'lock-answered':
      state.awaited -= 1;
      return lockAnswered(state, event);
    case 'looked':
      return startLate(state, event);
    case 'woken':
      state.rated -= 1;
      schedule.putBack(event.position);
      return nothing;
    case 'returned':
    case 'lost':
      return leave(state, event);
    case 'suspended':
      return state.stop === undefined ? [{ type: 'check-open', position: event.position }] : endOpen(state);
    case 'heard':
      state.awaited += 1;
      if (event.isEnd && open.delete(event.position)) state.leaving.add(event.position);
      return nothing;
    case 'ended-elsewhere':
      state.awaited -= 1;
      return nothing;
    case 'answered':
      state.awaited -= 1;
      // A call that is not resumed yet will find the answer itself.
      if (open.has(event.position) && schedule.isUnderWay(event.position) && !state.waiting.has(event.position))
        schedule.putBack(event.position);
      return nothing;
    case 'over':
      return stopBy(state, { type: 'aborted', by: event.by }, nothing);
    case 'broken':
      return breakOff(state, event.thrown);
    case 'rest':
      return closeRest(state);
    default:
      return event satisfies never;
  }
}

type EventOf<Type extends StepEvent['type']> = Extract<StepEvent, { readonly type: Type }>;

function settle(state: RunState, { position, consequence, ended }: EventOf<'settled'>): readonly StepCommand[] {
  state.open.delete(position);
  state.leaving.delete(position);
  state.waiting.delete(position);
  state.schedule.settle(position);
  if (consequence !== 'halt') return nothing;
  // The node failed because the run's time was over. A tool that blocked the thread delayed the timer.
  if (ended !== undefined) return stopBy(state, { type: 'aborted', by: ended }, nothing);
  return stopBy(state, { type: 'halted', by: position }, [{ type: 'cancel' }]);
}

function admit(state: RunState, { position, locks, delayMs }: EventOf<'prepared'>): readonly StepCommand[] {
  if (locks === undefined && state.running > 0) {
    state.schedule.putBack(position);
    state.clearing = true;
    return nothing;
  }
  // The common case: nothing to wait for.
  if (delayMs === 0 && (locks === undefined || locks.length === 0)) return call(state, position, locks);
  state.waiting.set(position, locks);
  if (delayMs === 0) return [{ type: 'lock', position, locks: locks ?? [] }];
  state.rated += 1;
  return [{ type: 'wait-rate', position, delayMs }];
}

/** `locks`: the locks it holds. */
function call(state: RunState, position: number, locks: readonly string[] | undefined): readonly StepCommand[] {
  if (state.waiting.size > 0) state.waiting.delete(position);
  if (locks !== undefined && locks.length > 0) state.held.set(position, locks);
  state.alone = locks === undefined;
  state.running += 1;
  state.awaited += 1;
  return [{ type: 'call', position, isOpen: state.open.delete(position) }];
}

function lockAnswered(state: RunState, { position, locks, answer }: EventOf<'lock-answered'>): readonly StepCommand[] {
  if (answer === 'ended') return nothing;
  // The node has ended in the meantime, by the host or with the run.
  if (!state.waiting.has(position) || state.leaving.has(position))
    return answer === 'granted' ? [{ type: 'release', position, locks }] : nothing;
  if (answer === 'timed-out') {
    return state.stop === undefined ? [{ type: 'close', position, why: { type: 'locked-out', locks } }] : nothing;
  }
  return mayStart(state) ? [{ type: 'look', position }] : letGo(state, position);
}

/** The node now holds its locks. */
function startLate(state: RunState, { position, delayMs, ended }: EventOf<'looked'>): readonly StepCommand[] {
  const commands = ended === undefined ? nothing : stopBy(state, { type: 'aborted', by: ended }, nothing);
  if (mayStart(state) && delayMs === 0) return call(state, position, state.waiting.get(position));
  return [...commands, ...letGo(state, position)];
}

/** Releases its locks, so that others can use them. */
function letGo({ schedule, waiting }: RunState, position: number): readonly StepCommand[] {
  schedule.putBack(position);
  return [{ type: 'release', position, locks: waiting.get(position) ?? [] }];
}

function leave(state: RunState, event: EventOf<'returned' | 'lost'>): readonly StepCommand[] {
  const { position } = event;
  state.awaited -= 1;
  state.running -= 1;
  state.alone = false;
  const release = releaseOf(state, position);
  if (event.type === 'lost') {
    if (!event.elsewhere) return [...release, ...breakOff(state, event.thrown)];
    // The caller that has it may end it before the run ends, or has already.
    state.open.add(position);
    return [...release, { type: 'watch', position }, { type: 'check-end', position }];
  }
  const { outcome } = event;
  if (outcome.kind !== 'suspended') {
    const end: StepCommand = { type: 'settle', position, outcome };
    return release === nothing ? [end] : [...release, end];
  }
  state.open.add(position);
  return [...release, { type: 'watch', position }, { type: 'note-open', position, suspended: outcome }];
}

function releaseOf({ held }: RunState, position: number): readonly StepCommand[] {
  const locks = held.size === 0 ? undefined : held.get(position);
  if (locks === undefined) return nothing;
  held.delete(position);
  return [{ type: 'release', position, locks }];
}

/** Prevents further nodes from starting. */
function stopBy(state: RunState, stop: Stop, first: readonly StepCommand[]): readonly StepCommand[] {
  if (state.stop !== undefined || state.broken !== undefined) return nothing;
  state.stop = stop;
  state.rated = 0;
  return [{ type: 'clear-rates' }, ...first, ...endOpen(state)];
}

/** Waits for running calls; no other error can be reported after this one. */
function breakOff(state: RunState, thrown: unknown): readonly StepCommand[] {
  if (state.broken !== undefined) return nothing;
  state.broken = { thrown };
  state.rated = 0;
  return [{ type: 'clear-rates' }, { type: 'cancel' }];
}

/** Ends the open calls, because their time is over as well. */
function endOpen(state: RunState): readonly StepCommand[] {
  const commands = [...state.open].map((position): StepCommand => ({ type: 'end-open', position }));
  state.open.clear();
  state.running += commands.length;
  state.awaited += commands.length;
  return commands;
}

function closeRest({ schedule, stop, broken, awaited }: RunState): readonly StepCommand[] {
  if (stop === undefined || broken !== undefined || awaited > 0) return nothing;
  return schedule.listUnsettled().map((position) => ({ type: 'close', position, why: stop }));
}
