import { HoldfastError } from '@holdfast/core';
import { type CheckedPlan, checkPlan, type PlanCheck } from '@holdfast/orchestrator';
import { formatCount } from '@holdfast/orchestrator/text';
import { describeStyle } from '../../calls/line.ts';
import { conductPlan } from '../../plan/conduct.ts';
import { adviseOnTools, reportDeclined, reportViolations } from '../../plan/problems.ts';
import { openWorkshop, type PlanWorkshop } from '../../plan/setup.ts';
import { readPlanText } from '../../plan/source.ts';
import { describeAsks, describeWarnings } from '../../plan/view.ts';
import { inNewSession, toTerms, type WorkGiven } from '../../run/open.ts';
import { openEnvironment, toEnvironmentOptions } from '../../settings/environment-consent.ts';
import { type ExitCode, reportFailure } from '../../terminal/failure.ts';
import { describeTerminal, type Host } from '../../terminal/host.ts';
import { rememberNamed } from '../../trust/trust.ts';

export interface RunPlanFileOptions extends WorkGiven {
  /** The path; `-`: standard input. */
  readonly file: string;
  /** Runs only a plan with this digest or prefix. */
  readonly digest: string | undefined;
}

/**
 * Checks the plan in a file and runs it. Returns 1 if it is not valid.
 *
 * @throws HoldfastError `plan.mismatch`, `usage.*`, and as `openWorkshop` and `runPlan`.
 */
export async function runPlanFile(options: RunPlanFileOptions, host: Host): Promise<ExitCode> {
  const text = await readPlanText(options.file, host);
  const stdinTaken = options.file === '-';
  const consent = await openEnvironment(toEnvironmentOptions({ ...options, stdinTaken }), host);
  return await openWorkshop(options, { stdinTaken, consent }, host, async (workshop) => {
    const checked = await checkFor(text, workshop, toGrants(options, workshop.setup));
    if (checked.type === 'declined') return reportDeclined(checked.error, host);
    if (checked.type === 'invalid') {
      const things = formatCount(checked.violations.length, 'violation');
      reportFailure(new HoldfastError('plan.invalid', `The plan is invalid: ${things}.`), host);
      const advice = adviseOnTools(checked.violations, workshop.equipment);
      return reportViolations({ ...checked, advice }, host);
    }
    checkDigest(checked.checked, options.digest);
    const style = describeStyle(host);
    const notes = [...describeAsks(checked.asks, style), ...describeWarnings(checked.warnings, style)];
    return await beginPlan(checked.checked, { ...options, stdinTaken, notes }, workshop, host);
  });
}

/** Checks a plan with the tools and policies of a run. @throws HoldfastError as `checkPlan`. */
export function checkFor(
  text: string,
  { setup }: Pick<PlanWorkshop, 'setup'>,
  grants: readonly string[],
): Promise<PlanCheck> {
  const { tools, functions, policies, resources, facts } = setup;
  return checkPlan(text, { tools, functions, policies, resources, facts, grants });
}

/** Tools that need no approval. */
export function toGrants(
  { approval, allow }: Pick<WorkGiven, 'approval' | 'allow'>,
  { tools }: Pick<PlanWorkshop['setup'], 'tools'>,
): readonly string[] {
  return approval === 'yes' ? tools.map(({ name }) => name) : allow;
}

/**
 * Checks that a plan is the one that was reviewed.
 *
 * @throws HoldfastError `plan.mismatch`.
 */
export function checkDigest({ digest }: CheckedPlan, wanted: string | undefined): void {
  if (wanted === undefined || digest.startsWith(wanted)) return;
  throw new HoldfastError(
    'plan.mismatch',
    `The plan has the digest \`${digest}\`, expected \`${wanted}\`: review it again before you run it. Nothing has run.`,
    { data: { digest, wanted } },
  );
}

export interface BeginPlanOptions extends WorkGiven {
  /** True if stdin held the plan or the request, so that answers cannot be read from it. */
  readonly stdinTaken: boolean;
  /** Lines printed before it starts. */
  readonly notes: readonly string[];
}

/** Runs a plan in its own session and shows it. */
export async function beginPlan(
  plan: CheckedPlan,
  options: BeginPlanOptions,
  { workspace, equipment, setup }: PlanWorkshop,
  host: Host,
): Promise<ExitCode> {
  const { json, quiet = false, stdinTaken, notes } = options;
  const terms = await toTerms(options, equipment);
  await rememberNamed(equipment.settings, host);
  if (!json && !quiet) {
    const nodes = formatCount(plan.plan.nodes.length, 'node');
    const line = `plan ${plan.digest.slice(0, 16)} · ${nodes} · ${setup.description}`;
    for (const text of [describeStyle(host).colors.dim(line), ...notes]) host.stdout.write(`${text}\n`);
    // The table of a live run begins with an empty line.
    if (notes.length > 0 && !describeTerminal(host.stdout, host.environment).live) host.stdout.write('\n');
  }
  return await inNewSession(terms, { workspace, equipment, silent: json || quiet }, host, (session) =>
    conductPlan({ type: 'start', plan }, { setup, terms, session, json, quiet, stdinTaken }, host),
  );
}
