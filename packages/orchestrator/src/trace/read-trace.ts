import { HoldfastError } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { buildTrace } from './build.ts';
import { readPlanLog } from './log.ts';
import type { PlanTrace } from './trace.ts';

/**
 * The trace of a plan by the log of its session: what the run itself answered, and of one that has not ended, what is known so far. A
 * log without content has no inputs and no values. `run`: as the records name it, default the one that was begun last.
 *
 * @throws HoldfastError `plan.not_found`.
 */
export function readTrace(records: Iterable<LogRecord>, run?: number): PlanTrace {
  const log = readPlanLog(records, run);
  if (log !== undefined) return buildTrace(log.head, log.facts);
  throw new HoldfastError(
    'plan.not_found',
    run === undefined
      ? 'No plan was run, as far as these records tell.'
      : `No run ${run} of a plan is in these records; \`plan-start\` records name them by \`plan\`.`,
    { data: run === undefined ? {} : { run } },
  );
}
