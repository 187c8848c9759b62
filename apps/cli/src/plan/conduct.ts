import {
  type CheckedPlan,
  type PlanEvent,
  type PlanRun,
  type PlanTrace,
  type RunPlanOptions,
  resumePlan,
  runPlan,
} from '@holdfast/orchestrator';
import type { LineStyle } from '../calls/line.ts';
import { describeStyle } from '../calls/line.ts';
import { describeNextSteps } from '../run/next-steps.ts';
import { createSilentView } from '../run/view.ts';
import { conductWork, createWorkBudget, openAnswers, type WorkConduct, type WorkTools } from '../run/work.ts';
import type { ExitCode } from '../terminal/failure.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { toCommand } from '../terminal/words.ts';
import { readViolations, reportViolations } from './problems.ts';
import { createPlanJsonView, createPlanLiveView, createPlanPlainView, type PlanRunView } from './run-view.ts';
import type { PlanSetup } from './setup.ts';
import { createPlanSummary, toOutputText } from './summary.ts';
import { formatTraceTable } from './trace-view.ts';

/** A plan that was checked, or one of the session's that is gone on with. */
export type PlanWork =
  | { readonly type: 'start'; readonly plan: CheckedPlan }
  | { readonly type: 'resume'; readonly run: number };

export interface PlanConduct extends WorkConduct {
  readonly setup: PlanSetup;
  readonly work: PlanWork;
}

// As `runPlan` has it.
const defaultPlaces = 10;
// Of a larger plan the table at the end would be longer than a screen; what did not succeed is told by itself.
const maxTableRows = 30;

/** Lets a plan run until it has ended or nobody answers a question of it, and shows it. */
export async function conductPlan(conduct: PlanConduct, host: Host): Promise<ExitCode> {
  const { setup, terms, session, json, quiet = false } = conduct;
  const { workspace, tools } = setup;
  const style = describeStyle(host);
  const isLive = !json && !quiet && describeTerminal(host.stdout, host.environment).live;
  const answers = quiet ? openAnswers(host) : undefined;
  const view = answers === undefined ? openView(conduct, { isLive, style }, host) : createSilentView();
  const budget = createWorkBudget(terms, host);
  const summary = createPlanSummary(tools, { timeoutMs: terms.timeoutMs, budget });
  return await conductWork(conduct, { view, what: 'plan', host }, async (going) => {
    const onEvent = (event: PlanEvent): void => {
      summary.add(event);
      view.show(event);
    };
    try {
      const trace = await goOn(conduct, { ...going, onEvent, budget }, host);
      view.close();
      const tabled = isLive && trace.nodes.length <= maxTableRows;
      const describe = (lineStyle: LineStyle): readonly string[] => [
        ...(tabled ? ['', ...formatTraceTable(trace, lineStyle)] : []),
        ...summary.describe(trace, lineStyle, { absence: going.approver.absence, tabled }),
        ...describeNextSteps(trace, { session: session.id, workspace }, { style: lineStyle, host }),
        ...describeTraceCommand(trace, { workspace, style: lineStyle }, host),
      ];
      if (answers !== undefined)
        answers.end({ answer: trace.status === 'succeeded' ? toOutputText(trace.output) : undefined, describe });
      else if (!json) for (const line of describe(style)) host.stdout.write(`${line}\n`);
      return going.toExitCode(
        trace.status === 'succeeded' ? 'done' : trace.status === 'suspended' ? 'suspended' : 'other',
      );
    } catch (thrown) {
      // The calls that were recorded stand, whatever came after them.
      view.close();
      if (!json && !quiet) for (const line of summary.describeBroken(style)) host.stdout.write(`${line}\n`);
      // Tools, or policies, are not what they were.
      reportViolations({ violations: readViolations(thrown) ?? [] }, host);
      throw thrown;
    }
  });
}

interface Going extends Pick<WorkTools, 'approver' | 'signal'> {
  readonly onEvent: (event: PlanEvent) => void;
  readonly budget: RunPlanOptions['budget'];
}

/** Asks whenever the plan is suspended, and goes on with it as long as there are answers. */
async function goOn(
  { setup, terms, session, work }: PlanConduct,
  { approver, signal, onEvent, budget }: Going,
  { clock }: Host,
): Promise<PlanTrace> {
  const { tools, functions, policies, slices, resources } = setup;
  for (const slice of slices) session.register(slice);
  const { timeoutMs, approvalTimeoutMs, maxConcurrency } = terms;
  const untilMs = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
  // Anew for every part of the run, whose time is what is left.
  const toOptions = (): RunPlanOptions => ({
    tools,
    functions,
    session,
    policies,
    resources,
    // Granted by the host, and not answered for a person: the log has to tell the two apart.
    grants: terms.approval === 'yes' ? tools.map(({ name }) => name) : terms.allow,
    unattended: approver.unattended,
    signal,
    clock,
    onEvent,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(untilMs === undefined ? {} : { timeoutMs: Math.max(1, untilMs - clock.now()) }),
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    ...(budget === undefined ? {} : { budget }),
    ...(approver.approve === undefined ? {} : { approve: approver.approve }),
  });
  const first: PlanRun =
    work.type === 'start' ? runPlan(work.plan, toOptions()) : resumePlan({ ...toOptions(), run: work.run });
  let trace = await first.result;
  while (trace.status === 'suspended' && (await approver.ask(trace.pending, session, untilMs))) {
    trace = await resumePlan({ ...toOptions(), run: trace.run }).result;
  }
  return trace;
}

function openView(
  { json, terms }: PlanConduct,
  { isLive, style }: { readonly isLive: boolean; readonly style: LineStyle },
  host: Host,
): PlanRunView {
  if (json) return createPlanJsonView(host.reserveStdout(), { stacks: host.environment['HOLDFAST_DEBUG'] === '1' });
  if (isLive) {
    const places = terms.maxConcurrency ?? defaultPlaces;
    return createPlanLiveView(host.stdout, { style, clock: host.clock, places });
  }
  return createPlanPlainView((text) => host.stdout.write(text), style);
}

/** Where inputs, decisions and times of every node are. */
function describeTraceCommand(
  { sessionId, status }: PlanTrace,
  { workspace, style }: { readonly workspace: string; readonly style: LineStyle },
  host: Host,
): readonly string[] {
  if (status === 'suspended') return [];
  const trace = toCommand({ words: ['trace', sessionId], workspace }, host);
  return [style.colors.dim(`trace: ${trace}`)];
}
