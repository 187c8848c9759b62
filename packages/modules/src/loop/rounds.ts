import type { Outcome } from '@holdfast/core';
import { type LoopCaller, openLoopCaller } from './caller.ts';
import { type Course, type LoopEnd, type LoopTurn, newCourse } from './course.ts';
import { type LoopState, readEnds, recordResume } from './state.ts';
import type { ToolCatalog, ToolCatalogOptions } from './tool-catalog.ts';

/** The parts of one run of a loop. */
export interface LoopRun {
  readonly catalog: ToolCatalog;
  readonly live: LoopCaller;
  readonly course: Course;
  readonly maxIterations: number;
  /** For a resumed run: the outcomes of calls of the round, by their ids in the session. */
  readonly earlier: ReadonlyMap<string, Outcome> | undefined;
  /** Records that the state was used; does nothing for a new run. */
  readonly noteResumed: () => void;
}

export interface OpenRunOptions {
  readonly options: ToolCatalogOptions;
  readonly maxIterations: number;
  /** For a resumed run. */
  readonly state: LoopState | undefined;
}

/** Runs `work` with the deadline, budget and session of one run. */
export async function openRun<Result>(
  catalog: ToolCatalog,
  { options, maxIterations, state }: OpenRunOptions,
  work: (run: LoopRun) => Promise<Result>,
): Promise<Result> {
  const live = openLoopCaller(catalog, options, state?.loop);
  try {
    return await work({
      catalog,
      live,
      course: state?.course ?? newCourse(),
      maxIterations,
      earlier: state && readEnds(live.session, state),
      noteResumed: () => state && recordResume(live.session, state),
    });
  } finally {
    live.dispose();
  }
}

/** How a loop requests calls, makes them and gets its answer. */
export interface Protocol<Turn extends LoopTurn> {
  /** Asks once. `undefined`: nothing was called, ask again. `finished`: the answer can be given. */
  ask(): Promise<
    { readonly type: 'turn'; readonly turn: Turn } | { readonly type: 'finished' } | LoopEnd<Turn> | undefined
  >;
  /** Makes the calls of a round. `undefined`: they have ended and the loop continues. */
  take(turn: Turn, earlier?: ReadonlyMap<string, Outcome>): Promise<LoopEnd<Turn> | undefined>;
  /** Ends the loop, either finished or at its limit. */
  conclude(isFinished: boolean): Promise<LoopEnd<Turn>>;
}

/** Asks and calls until the loop ends. `open`: the turn that waited. */
export async function runRounds<Turn extends LoopTurn>(
  { live, course, maxIterations, earlier, noteResumed }: LoopRun,
  protocol: Protocol<Turn>,
  open: Turn | undefined,
): Promise<LoopEnd<Turn>> {
  if (open !== undefined) {
    const ended = await protocol.take(open, earlier);
    if (ended?.type !== 'suspended') noteResumed();
    if (ended !== undefined) return ended;
  }
  let isFinished = false;
  for (;;) {
    const over = live.whyOver();
    if (over !== undefined) return { type: 'stopped', reason: over };
    if (isFinished || course.iterations >= maxIterations) return await protocol.conclude(isFinished);
    live.refresh();
    const asked = await protocol.ask();
    isFinished = asked?.type === 'finished';
    if (asked === undefined || asked.type === 'finished') continue;
    const ended = asked.type === 'turn' ? await protocol.take(asked.turn) : asked;
    if (ended !== undefined) return ended;
  }
}

/** The end of a run that was stopped from outside. */
export function stopped({ live }: LoopRun): LoopEnd<never> {
  return { type: 'stopped', reason: live.whyOver() ?? 'aborted' };
}
