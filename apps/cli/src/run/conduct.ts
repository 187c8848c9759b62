import type { Budget } from '@holdfast/core';
import { type RunResult, resumeRun, runAgent } from '@holdfast/executor';
import type { LineStyle } from '../calls/line.ts';
import { describeStyle } from '../calls/line.ts';
import type { ExitCode } from '../terminal/failure.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import type { Approver } from './approver.ts';
import { describeNextSteps } from './next-steps.ts';
import { createOrderPolicies } from './prompt.ts';
import type { RunSetup } from './setup.ts';
import { createRunSummary, type RunSummary } from './summary.ts';
import { createJsonView, createLiveView, createPlainView, createSilentView, type RunView } from './view.ts';
import { conductWork, createWorkBudget, openAnswers, type WorkConduct } from './work.ts';

/** A run that begins with a request, or one of the session's that is gone on with. */
export type RunWork =
  | { readonly type: 'start'; readonly input: string }
  | { readonly type: 'resume'; readonly run: number };

export interface RunConduct extends WorkConduct {
  readonly setup: RunSetup;
  readonly work: RunWork;
}

/** Lets a run go on until it has ended or nobody answers a question of it, and shows it. */
export async function conductRun(conduct: RunConduct, host: Host): Promise<ExitCode> {
  const { setup, terms, session, json, quiet = false } = conduct;
  const style = describeStyle(host);
  const answers = quiet ? openAnswers(host) : undefined;
  const view = answers === undefined ? openView(json, style, host) : createSilentView();
  const { maxRounds, timeoutMs } = terms;
  const { workspace } = setup;
  const budget = createWorkBudget(terms, host);
  const summary = createRunSummary(setup.tools, { maxRounds, timeoutMs, budget });
  return await conductWork(conduct, { view, what: 'run', host }, async ({ approver, signal, toExitCode }) => {
    try {
      const result = await goOn({ conduct, host, view, approver, summary, budget, signal });
      view.close();
      const describe = (lineStyle: LineStyle): readonly string[] => [
        ...summary.describe(lineStyle, approver.absence),
        ...describeNextSteps(result, { session: session.id, workspace }, { style: lineStyle, host }),
      ];
      if (answers !== undefined)
        answers.end({
          answer: result.status === 'completed' ? result.text : undefined,
          unfinished: result.unfinished,
          describe,
        });
      else if (!json) for (const line of describe(style)) host.stdout.write(`${line}\n`);
      return toExitCode(result.status === 'completed' ? 'done' : result.status === 'suspended' ? 'suspended' : 'other');
    } catch (thrown) {
      // The calls that were recorded stand, whatever came after them.
      view.close();
      if (!json && !quiet) for (const line of summary.describeBroken(style)) host.stdout.write(`${line}\n`);
      throw thrown;
    }
  });
}

interface Going {
  readonly conduct: RunConduct;
  readonly host: Host;
  readonly view: RunView;
  readonly approver: Approver;
  readonly summary: RunSummary;
  readonly budget: Budget | undefined;
  readonly signal: AbortSignal;
}

/** Asks whenever the run is suspended, and goes on with it as long as there are answers. */
async function goOn({ conduct, host, view, approver, summary, budget, signal }: Going): Promise<RunResult> {
  const { setup, terms, session, work } = conduct;
  const { model, prompt, tools, policies, slices, resources } = setup;
  for (const slice of slices) session.register(slice);
  const { clock } = host;
  const { maxRounds, timeoutMs, approvalTimeoutMs } = terms;
  const untilMs = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
  // Anew for every part of the run, whose time is what is left.
  const toOptions = () => ({
    model,
    prompt,
    session,
    policies: [...policies, ...createOrderPolicies(terms.order)],
    resources,
    // Granted by the host, and not answered for a person: the log has to tell the two apart.
    grants: terms.approval === 'yes' ? tools.map(({ name }) => name) : terms.allow,
    unattended: approver.unattended,
    signal,
    clock,
    // Called at once, so that everything that came before a question stands above it.
    onEvent: (event: Parameters<RunView['show']>[0]) => {
      summary.add(event);
      view.show(event);
    },
    ...(maxRounds === undefined ? {} : { maxRounds }),
    ...(untilMs === undefined ? {} : { timeoutMs: Math.max(1, untilMs - clock.now()) }),
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    ...(budget === undefined ? {} : { budget }),
    ...(approver.approve === undefined ? {} : { approve: approver.approve }),
  });
  const first =
    work.type === 'start'
      ? runAgent({ ...toOptions(), input: work.input })
      : resumeRun({ ...toOptions(), run: work.run });
  let result = await first.result;
  while (result.status === 'suspended' && (await approver.ask(result.pending, session, untilMs))) {
    result = await resumeRun(toOptions()).result;
  }
  return result;
}

function openView(json: boolean, style: LineStyle, host: Host): RunView {
  if (json) return createJsonView(host.reserveStdout(), { stacks: host.environment['HOLDFAST_DEBUG'] === '1' });
  if (describeTerminal(host.stdout, host.environment).live)
    return createLiveView(host.stdout, { style, clock: host.clock });
  return createPlainView((text) => host.stdout.write(text), style);
}
