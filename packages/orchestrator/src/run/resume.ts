import { type Clock, HoldfastError, hasMask, type Json } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import { type OpenPlan, openSealed, type Session } from '@holdfast/session';
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

/** What `resumePlan` takes: what the run was given, anew. A budget and a deadline count only what follows. */
export interface ResumePlanOptions extends RunPlanOptions {
  /** As its records name it. Default: the run of a plan of the session that was begun last and has not ended. */
  readonly run?: number;
  /** The plan itself, whose digest must be that of the log's. Needed only where secrets of it are masked in the log. */
  readonly plan?: CheckedPlan;
}

/**
 * Goes on with the run of a plan that waits for people, or whose process ended. The plan is read back from the session's log and
 * checked against the tools. Nodes that ended are not run again; answers that came meanwhile count. After the end of a process, a node
 * whose call was begun runs again with the same idempotency key where its tool allows that (`repeat`), and else ends `in-doubt`, unless
 * its `probe` or a person (`resolveCall`) tells what came of it. What a node was to be given that the log has only masks of is not
 * called: it ends `invalid`, `plan.inputs.redacted`.
 *
 * @throws HoldfastError `plan.unchecked`, `options.invalid`; `result` rejects with `plan.not_open`, `plan.under_way`, `plan.mismatch`,
 * `plan.invalid`, `replay.no_content`, `log.not_readable`, and as that of `runPlan`.
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
        // Only now: until here the host may have ended calls of it by itself.
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
      'replay.no_content',
      `The log of the session \`${session.id}\` was kept without content, so no plan in it can be gone on with; pass \`approve\` to answer at once.`,
      { data: { sessionId: session.id } },
    );
  }
  const { plans } = session.openWork();
  const found = run === undefined ? plans.at(-1) : plans.find((open) => open.run === run);
  if (found === undefined) throw notOpen(session, run);
  return found;
}

function notOpen({ id }: Session, run: number | undefined): HoldfastError {
  return new HoldfastError(
    'plan.not_open',
    run === undefined
      ? `No plan of the session \`${id}\` waits or was interrupted: there is nothing to go on with.`
      : `The run ${run} of a plan in the session \`${id}\` has ended, or never was: there is nothing to go on with.`,
    { data: { sessionId: id, ...(run === undefined ? {} : { run }) } },
  );
}

interface FoundPlan {
  readonly checked: CheckedPlan;
  /** It has masks where the log has them. */
  readonly fromLog: boolean;
}

/** The host's own, what this process has kept, or that of the log. */
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
  // Masks have made another one of it.
  if (fromLog && hasMask(recorded)) return { checked, fromLog };
  throw new HoldfastError(
    'plan.mismatch',
    `The run ${head.run} is one of another plan: its digest is \`${head.digest}\`, not \`${checked.digest}\`.`,
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
