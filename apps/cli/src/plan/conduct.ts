import { type CheckedPlan, type PlanTrace, resumePlan, runPlan } from '@holdfast/orchestrator';
import { describeStyle, type LineStyle } from '../calls/line.ts';
import { type Conduct, conductWork } from '../run/work.ts';
import type { ExitCode } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toCommand } from '../terminal/words.ts';
import { createPlanTelling } from './node-line.ts';
import { readViolations, reportViolations } from './problems.ts';
import type { PlanSetup } from './setup.ts';
import { createPlanSummary, toOutputText } from './summary.ts';

/** A checked plan to start, or one of the session's to resume. */
export type PlanWork =
  | { readonly type: 'start'; readonly plan: CheckedPlan }
  | { readonly type: 'resume'; readonly run: number };

/** Runs or resumes a plan. */
export async function conductPlan(work: PlanWork, conduct: Conduct<PlanSetup>, host: Host): Promise<ExitCode> {
  const { setup, terms } = conduct;
  const { maxConcurrency, timeoutMs } = terms;
  const { tools, functions, policies, workspace } = setup;
  const own = { tools, functions, policies, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) };
  // The trace has the inputs, decisions and times of every node.
  const describeTrace = ({ sessionId, status }: PlanTrace, { colors }: LineStyle): readonly string[] =>
    status === 'suspended' ? [] : [colors.dim(`trace: ${toCommand({ words: ['trace', sessionId], workspace }, host)}`)];
  return await conductWork<PlanTrace>(
    {
      what: 'plan',
      isResumed: work.type === 'resume',
      telling: createPlanTelling(describeStyle(host)),
      createSummary(budget) {
        const summary = createPlanSummary(tools, { timeoutMs, budget });
        return {
          ...summary,
          describe: (trace, style, absence) => [
            ...summary.describe(trace, style, absence),
            ...describeTrace(trace, style),
          ],
        };
      },
      begin: (options) =>
        work.type === 'start'
          ? runPlan(work.plan, { ...own, ...options }).result
          : resumePlan({ ...own, ...options, run: work.run }).result,
      goOn: (options, { run }) => resumePlan({ ...own, ...options, run }).result,
      toAnswer: ({ status, output }) => (status === 'succeeded' ? { text: toOutputText(output) } : undefined),
      // Tools or policies have changed.
      reportBroken: (thrown) => void reportViolations({ violations: readViolations(thrown) ?? [] }, host),
    },
    conduct,
    host,
  );
}
