import { type Clock, HoldfastError, type Json } from '@holdfast/core';
import { hasMask } from '@holdfast/core/internal';
import type { Caller } from '@holdfast/executor';
import type { Session } from '@holdfast/session';
import { type OpenPlan, openSealed } from '@holdfast/session/internal';
import type { CheckedPlan } from '../check/plan.ts';
import type { Plan } from '../plan/types.ts';
import type { TraceHead } from '../trace/build.ts';
import { hasEnded, toCallId } from '../trace/facts.ts';
import { type PlanLog, readPlanHead, readPlanLog } from '../trace/log.ts';
import { claimPlan, findKeptPlan } from './claims.ts';
import type { SettledNode } from './inputs.ts';
import { checkRunOptions, checkSurroundings, type RunPlanOptions } from './options.ts';
import { type BegunPlan, type PlanRun, performPlan, startPlanRun } from './perform.ts';
import { checkAgain, checkOrigin, fitToTools } from './run.ts';

/** Options of `resumePlan`: the same as for the run. A budget and a deadline count only from now on. */
export interface ResumePlanOptions extends RunPlanOptions {
  /** The run, as named in its records. Default: the latest run of a plan in the session that has not ended. */
  readonly run?: number;
  /** The plan, whose digest must match the log. Needed only if the log masks secrets of the plan. */
  readonly plan?: CheckedPlan;
}

/**
 * Resumes a plan that waits for approval or whose process ended. Reads the plan from the session's log and checks it against the tools.
 * Nodes that ended do not run again; answers given in the meantime count. If a process ended during a call, the node runs again with the
 * same idempotency key if its tool allows it (`repeat`); otherwise it ends as `in-doubt`, unless the tool's `probe` or a person
 * (`resolveCall`) settles it. A node whose inputs are masked in the log is not called and ends as `invalid`, `call.redacted`.
 *
 * @throws HoldfastError `plan.invalid`, `options.invalid`; `result` rejects with `work.not_open`, `work.under_way`, `plan.mismatch`,
 * `plan.invalid`, `replay.failed`, `log.unreadable`, and as for `runPlan`.
 */
export function resumePlan(options: ResumePlanOptions): PlanRun {
  checkSurroundings(options);
  if (options.plan !== undefined) checkOrigin(options.plan);
  checkRunOptions(options);
  return startPlanRun(async (stream) => {
    const session = options.session as Session;
    const open = findOpen(session, options.run);
    const release = claimPlan(session, open.run);
    try {
      const head = readPlanHead(session.records(open.seq), open.run);
      if (head === undefined) throw notOpen(session, open.run);
      const found = await findPlan(head, session, options);
      const begin = (_caller: Caller, clock: Clock): BegunPlan => {
        // Read the log only now: until here, the host may have ended calls itself.
        const log = readPlanLog(session.records(open.seq), open.run);
        if (log === undefined) throw notOpen(session, open.run);
        return goOn(log, { ...found, session, clock });
      };
      return await performPlan({ checked: found.checked, options, stream, begin });
    } finally {
      release();
    }
  });
}

function findOpen(session: Session, run: number | undefined): OpenPlan {
  if (session.content === 'none') {
    throw new HoldfastError(
      'replay.failed',
      `The log of the session \`${session.id}\` has no content, so its plans cannot be resumed. Pass \`approve\` to answer immediately.`,
      { data: { reason: 'no_content', sessionId: session.id } },
    );
  }
  const { plans } = session.openWork();
  const found = run === undefined ? plans.at(-1) : plans.find((open) => open.run === run);
  if (found === undefined) throw notOpen(session, run);
  return found;
}

function notOpen({ id }: Session, run: number | undefined): HoldfastError {
  return new HoldfastError(
    'work.not_open',
    run === undefined
      ? `Nothing to resume: no plan of the session \`${id}\` is waiting or interrupted.`
      : `Nothing to resume: run ${run} of a plan in the session \`${id}\` has ended or does not exist.`,
    { data: { reason: 'plan', sessionId: id, ...(run === undefined ? {} : { run }) } },
  );
}

interface FoundPlan {
  readonly checked: CheckedPlan;
  /** True if the plan is masked like the log. */
  readonly fromLog: boolean;
}

/** The plan of the caller, of this process, or of the log, in this order. */
async function findPlan(head: TraceHead, session: Session, options: ResumePlanOptions): Promise<FoundPlan> {
  const known = options.plan ?? findKeptPlan(session, head.run)?.checked;
  const { tools, functions, limits } = options;
  const recorded = head.plan as unknown as Json;
  const sealed =
    known === undefined && hasMask(recorded) ? openSealed(session, { plan: head.run }, recorded) : undefined;
  const checked =
    known === undefined
      ? await checkAgain((sealed as Plan | undefined) ?? head.plan, { tools, functions, limits })
      : await fitToTools(known, options);
  const fromLog = known === undefined && sealed === undefined;
  if (checked.digest === head.digest) return { checked, fromLog };
  // Masking has changed the plan, so its digest differs.
  if (fromLog && hasMask(recorded)) return { checked, fromLog };
  throw new HoldfastError(
    'plan.mismatch',
    `Run ${head.run} belongs to another plan: its digest is \`${head.digest}\`, not \`${checked.digest}\`.`,
    { data: { run: head.run, expected: head.digest, digest: checked.digest } },
  );
}

interface GoingOn extends FoundPlan {
  readonly session: Session;
  readonly clock: Clock;
}

function goOn({ head, facts, ended }: PlanLog, { session, checked, fromLog, clock }: GoingOn): BegunPlan {
  const { nodes } = checked.plan;
  const kept = findKeptPlan(session, head.run)?.settled ?? [];
  const settled: (SettledNode | undefined)[] = [];
  const masked = new Set<number>();
  const open = new Set<number>();
  for (const [position, node] of nodes.entries()) {
    const known = facts[position];
    const end = hasEnded(known) ? (known.type === 'plan-node' ? { ...known, value: null } : known.outcome) : undefined;
    const outcome = kept[position] ?? end;
    settled.push(outcome);
    if (fromLog && hasMask(node.inputs)) masked.add(position);
    if (end !== undefined && kept[position] === undefined && hasMask([end.message, end.value])) masked.add(position);
    if (end === undefined && session.openCall({ callId: toCallId(head.run, node.id) }) !== undefined)
      open.add(position);
  }
  session.record({ type: 'plan-resume', plan: head.run, atMs: clock.now() });
  return { type: 'plan-resume', head, facts: [...facts], settled, masked, open, ended };
}
