import { resolve } from 'node:path';
import { offlinePlanner } from '@holdfast/adapter-offline';
import { HoldfastError, isHoldfastError, type Planner } from '@holdfast/core';
import { type CompiledPlan, compilePlan, modelPlanner } from '@holdfast/orchestrator';
import { formatCount, formatDuration } from '@holdfast/orchestrator/text';
import { describeStyle } from '../../calls/line.ts';
import { planToMermaid } from '../../drawing/mermaid.ts';
import { adviseOnTools, readViolations, reportViolations } from '../../plan/problems.ts';
import { openWorkshop, type PlanWorkshop } from '../../plan/setup.ts';
import { createCompileView, describeAsks, describePlanNodes, describeWarnings } from '../../plan/view.ts';
import type { WorkGiven } from '../../run/open.ts';
import { openNamedModel } from '../../run/setup.ts';
import { openEnvironment, toEnvironmentOptions } from '../../settings/environment-consent.ts';
import { findModelName } from '../../settings/settings.ts';
import { type ExitCode, reportFailure } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { Interruptions } from '../../terminal/interruptions.ts';
import { toJsonText } from '../../terminal/json.ts';
import { checkOutput, writeOutput } from '../../terminal/output-file.ts';
import { quoteWord, toCommand } from '../../terminal/words.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { beginPlan, checkDigest, toGrants } from './run.ts';

export interface MakePlanOptions extends WorkGiven {
  readonly request: string;
  /** True if the request was read from stdin, so that answers cannot be. */
  readonly stdinTaken: boolean;
  readonly mermaid: boolean;
  /** The file to write the plan to. */
  readonly output: string | undefined;
  /** Replaces an existing file. */
  readonly force: boolean;
  /** Runs the plan as well. */
  readonly run: boolean;
  /** With `run`: runs only a plan with this digest or prefix. */
  readonly digest: string | undefined;
}

/**
 * Compiles a request into a plan, shows it, and runs it if asked to. Returns 1 if there is no valid plan.
 *
 * @throws HoldfastError `usage.*`, `planner.*`, `plan.declined`, `plan.mismatch`, `output.unwritable`, and as `openWorkshop`, `openModel` and
 * `runPlan`.
 */
export async function makePlan(options: MakePlanOptions, host: Host): Promise<ExitCode> {
  const { output: file, force, run, json, quiet = false, mermaid, digest } = options;
  const output = file === undefined ? undefined : { file, force };
  if (output !== undefined) await checkOutput(output, host);
  // A plan that is only shown calls no tool.
  const consent = run ? { consent: await openEnvironment(toEnvironmentOptions(options), host) } : {};
  return await openWorkshop(options, { stdinTaken: options.stdinTaken, ...consent }, host, async (workshop) => {
    const compiled = await compile(options, workshop, host);
    if (typeof compiled === 'number') return compiled;
    if (output !== undefined) await writeOutput(output, `${toJsonText(compiled.plan, 2)}\n`, host);
    if (!run) {
      const text = json
        ? toJsonText(compiled.plan, 2)
        : mermaid
          ? planToMermaid(compiled.plan).trimEnd()
          : describeCompiled(compiled, options, workshop, host).join('\n');
      host.stdout.write(`${text}\n`);
      return 0;
    }
    checkDigest(compiled, digest);
    if (!json && !quiet) host.stdout.write(`${describeCompiled(compiled, options, workshop, host).join('\n')}\n\n`);
    return await beginPlan(compiled, { ...options, notes: [] }, workshop, host);
  });
}

/** The compiled plan, or the exit code if there is none and the reason was reported. */
async function compile(
  { request, allow, approval, json }: MakePlanOptions,
  { equipment, setup }: PlanWorkshop,
  host: Host,
): Promise<CompiledPlan | ExitCode> {
  const { tools, functions, policies, resources, facts } = setup;
  await using planner = await openPlanner({ equipment }, host);
  const timeoutMs = equipment.settings.effective.limits.timeoutMs?.value;
  using stop = new Interruptions(host);
  const late = new AbortController();
  const cancelTimer = timeoutMs === undefined ? undefined : host.clock.after(timeoutMs, () => late.abort());
  try {
    return await compilePlan({
      request,
      planner: planner.planner,
      tools,
      functions,
      policies,
      resources,
      facts,
      grants: toGrants({ approval, allow }, setup),
      signal: AbortSignal.any([stop.signal, late.signal]),
      clock: host.clock,
      ...(planner.isQuick ? {} : { onEvent: createCompileView(planner.planner.id, host) }),
    });
  } catch (thrown) {
    // Programs that read the plan get one that says why there is none.
    if (json && isHoldfastError(thrown)) {
      host.stdout.write(`${toJsonText({ version: 1, status: 'error', error: thrown.message }, 2)}\n`);
    }
    if (stop.exitCode !== undefined) {
      reportFailure(thrown, host);
      return stop.exitCode;
    }
    if (late.signal.aborted && isHoldfastError(thrown) && thrown.code === 'plan.aborted')
      throw tooSlow(planner, timeoutMs);
    const violations = readViolations(thrown);
    if (violations === undefined) throw planner.isQuick ? withAdvice(thrown) : thrown;
    reportFailure(thrown, host);
    return reportViolations({ violations, advice: adviseOnTools(violations, equipment) }, host);
  } finally {
    cancelTimer?.();
  }
}

/** Adds what to do if the rules find no plan. */
function withAdvice(thrown: unknown): unknown {
  if (!isHoldfastError(thrown) || thrown.code !== 'plan.declined') return thrown;
  const hint =
    'the `offline` planner works by rules: use plain English and the names of the tools (`holdfast list`), add tools with `--tools DIR`, or let a language model write the plan with `--model NAME`.';
  return new HoldfastError(thrown.code, thrown.message, { data: { hint }, cause: thrown });
}

function tooSlow({ planner }: OpenedPlanner, timeoutMs = 0): HoldfastError {
  const time = formatDuration(timeoutMs);
  return new HoldfastError(
    'plan.aborted',
    `The planner \`${planner.id}\` returned no plan within ${time}. Raise \`--timeout\`.`,
    { data: { reason: 'planner' } },
  );
}

interface OpenedPlanner extends AsyncDisposable {
  readonly planner: Planner;
  /** True if it answers at once. */
  readonly isQuick: boolean;
}

/** Rules for `offline`; any other model is asked for a plan. */
async function openPlanner({ equipment }: Pick<PlanWorkshop, 'equipment'>, host: Host): Promise<OpenedPlanner> {
  const name = findModelName(equipment.settings);
  if (name === 'offline') {
    return { planner: offlinePlanner(), isQuick: true, [Symbol.asyncDispose]: async () => undefined };
  }
  const opened = await openNamedModel(name, equipment, host);
  return {
    planner: modelPlanner(opened.model),
    isQuick: false,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function describeCompiled(
  compiled: CompiledPlan,
  { output, run, tools }: Pick<MakePlanOptions, 'output' | 'run' | 'tools'>,
  { workspace }: Pick<PlanWorkshop, 'workspace'>,
  host: Host,
): readonly string[] {
  const style = describeStyle(host);
  const { colors } = style;
  const { plan, digest, planner, rounds, asks, warnings, usage } = compiled;
  const facts = [
    planner,
    formatCount(plan.nodes.length, 'node'),
    ...(rounds === 1 ? [] : [formatCount(rounds, 'round')]),
    ...(usage === undefined ? [] : [`${usage.inputTokens + usage.outputTokens} tokens`]),
  ];
  const shown = output === undefined ? undefined : shortenPath(resolve(host.directory, output), host.directory);
  return [
    colors.dim(facts.join(' · ')),
    '',
    ...describePlanNodes(compiled, style),
    ...describeAsks(asks, style),
    ...describeWarnings(warnings, style),
    '',
    `digest ${digest}`,
    ...(shown === undefined ? [] : [`Written: ${shown}`]),
    ...(run
      ? []
      : [
          colors.dim(
            `Run it with: ${shown === undefined ? '`--run`, or save it with `--output FILE`' : toRunCommand(shown)}`,
          ),
        ]),
  ];

  function toRunCommand(file: string): string {
    const named = ['--digest', digest.slice(0, 16), ...(tools === undefined ? [] : ['--tools', quoteWord(tools)])];
    return toCommand({ words: ['plan run', file], options: named, workspace }, host);
  }
}
