import { type RunResult, resumeRun, runAgent } from '@holdfast/executor';
import { describeStyle } from '../calls/line.ts';
import type { ExitCode } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { createOrderPolicies } from './prompt.ts';
import type { RunSetup } from './setup.ts';
import { createRunSummary } from './summary.ts';
import { createRunTelling } from './view.ts';
import { type Conduct, conductWork } from './work.ts';

/** A request to start a run with, or one of the session's runs to resume. */
export type RunWork =
  | { readonly type: 'start'; readonly input: string }
  | { readonly type: 'resume'; readonly run: number };

/** Runs or resumes a run. */
export async function conductRun(work: RunWork, conduct: Conduct<RunSetup>, host: Host): Promise<ExitCode> {
  const { setup, terms } = conduct;
  const { maxRounds, timeoutMs } = terms;
  const { model, prompt } = setup;
  const policies = [...setup.policies, ...createOrderPolicies(terms.order)];
  const own = { model, prompt, policies, ...(maxRounds === undefined ? {} : { maxRounds }) };
  return await conductWork<RunResult>(
    {
      what: 'run',
      isResumed: work.type === 'resume',
      telling: createRunTelling(describeStyle(host), host.clock),
      createSummary: (budget) => createRunSummary(setup.tools, { maxRounds, timeoutMs, budget }),
      begin: (options) =>
        work.type === 'start'
          ? runAgent({ ...own, ...options, input: work.input }).result
          : resumeRun({ ...own, ...options, run: work.run }).result,
      goOn: (options) => resumeRun({ ...own, ...options }).result,
      toAnswer: ({ status, text, unfinished }) => (status === 'completed' ? { text, unfinished } : undefined),
    },
    conduct,
    host,
  );
}
