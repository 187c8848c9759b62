import type { Isolation } from '@holdfast/loader';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TraceOptions } from './commands/look/trace.ts';
import {
  addApprovalOptions,
  addIsolationOption,
  addQuietOption,
  addRedactOption,
  type GoingFlags,
  readApproval,
  readLimits,
} from './flags/approval.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './flags/config.ts';
import { readCount, readSeconds, subfoldersText } from './flags/values.ts';
import type { PlanPlace, PlanRunOptions } from './plan/equipment.ts';
import { planCheckHelp, planHelp, planRunHelp, traceHelp } from './plan-help.ts';
import { type ExitCode, usageError } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';
import { readRequest } from './terminal/request.ts';

interface PlaceFlags extends ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly locked?: boolean;
  readonly isolation?: Isolation;
  readonly workspace: string;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

interface RunFlags extends PlaceFlags, GoingFlags {
  readonly allow?: readonly string[];
  readonly isolation?: Isolation;
  readonly concurrency?: number;
  readonly digest?: string;
}

interface MakeFlags extends RunFlags {
  readonly model?: string;
  readonly mermaid?: boolean;
  readonly output?: string;
  readonly force?: boolean;
  readonly run?: boolean;
}

interface TraceFlags {
  readonly plan?: number;
  readonly json?: boolean;
  readonly mermaid?: boolean;
  readonly report?: boolean;
  readonly html?: string;
  readonly force?: boolean;
  readonly workspace: string;
}

/** The commands about plans of tool calls and what became of them. */
export function addPlanCommands(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const plan = program
    .command('plan')
    .description('compile a request into a plan; `plan run` runs one, `plan check` checks one')
    .usage(
      '[options] <request>\n       holdfast plan run [options] <file>\n       holdfast plan check [options] <file>',
    )
    .argument('<request>', 'what to do, in quotes; - reads it from standard input')
    // So that what stands behind `run` and `check` is theirs.
    .enablePositionalOptions()
    .helpCommand(false);
  addPlace(plan)
    .option('--model <model>', 'who writes it, as for `run` (default: offline, which goes by rules)')
    .addOption(new Option('--json', 'the plan as JSON; with --run one JSON event a line').conflicts('mermaid'))
    .addOption(new Option('--mermaid', 'the plan as a Mermaid flowchart').conflicts('run'))
    .option('--output <file>', 'write the plan to this file, too')
    .option('--force', 'with --output: replace a file that is there')
    .option('--run', 'run the plan at once');
  addRunOptions(plan, 'end the run after this time, and give up a model that takes longer for the plan')
    .addHelpText('after', planHelp)
    .action(async (request: string, flags: MakeFlags) => {
      const { model, mermaid, output, force, run, digest } = flags;
      if (run !== true) refuseUnrun(flags);
      const text = await readRequest(request, host);
      const form = { mermaid: mermaid === true, output, force: force === true, run: run === true };
      const given = { ...toRunOptions(flags), ...form, model, digest, request: text, stdinTaken: request === '-' };
      const { makePlan } = await import('./commands/plan/make.ts');
      end(await makePlan(given, host));
    });

  const runOne = plan
    .command('run')
    .description('run a plan')
    .argument('<file>', 'a plan as JSON; - reads it from standard input')
    .option('--json', 'one JSON event a line on stdout, and nothing else there');
  addRunOptions(addPlace(runOne), 'end it after this time')
    .addHelpText('after', planRunHelp)
    .action(async (file: string, flags: RunFlags) => {
      refuseOuter(plan);
      const { runPlanFile } = await import('./commands/plan/run.ts');
      end(await runPlanFile({ ...toRunOptions(flags), file, digest: flags.digest }, host));
    });

  const check = plan
    .command('check')
    .description('check a plan without running it')
    .argument('<file>', 'a plan as JSON; - reads it from standard input')
    .option('--json', 'as JSON');
  addPlace(check)
    .addHelpText('after', planCheckHelp)
    .action(async (file: string, flags: PlaceFlags) => {
      refuseOuter(plan);
      const { checkPlanFile } = await import('./commands/plan/check.ts');
      end(await checkPlanFile({ ...toPlace(flags), file, json: flags.json === true }, host));
    });

  program
    .command('trace')
    .description('print the trace of a plan: each node, its call, how it ended and why')
    .argument('[id]', 'id of the session (default: the newest that has run a plan)')
    .option('--plan <n>', 'which plan of the session, counted from 1 (default: the last)', readCount)
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .addOption(new Option('--json', 'the trace as JSON').conflicts(['mermaid', 'report', 'html']))
    .addOption(new Option('--mermaid', 'as a Mermaid flowchart').conflicts(['report', 'html']))
    .addOption(new Option('--report', 'as a report in words, by rules').conflicts('html'))
    .option('--html <file>', 'write a page with graph and timeline, which needs nothing else, to this file')
    .option('--force', 'with --html: replace a file that is there')
    .addHelpText('after', traceHelp)
    .action(async (id: string | undefined, { plan: number, workspace, html, force, ...flags }: TraceFlags) => {
      const form = readForm(flags);
      const { showTrace } = await import('./commands/look/trace.ts');
      end(await showTrace({ id, plan: number, workspace, form, html, force: force === true }, host));
    });
}

function readForm({ json, mermaid, report }: TraceFlags | Omit<TraceFlags, 'workspace'>): TraceOptions['form'] {
  if (json === true) return 'json';
  if (mermaid === true) return 'mermaid';
  return report === true ? 'report' : 'table';
}

/** What a plan is checked against. */
function addPlace(command: Command): Command {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--subfolders', subfoldersText)
    .option('--locked', 'do nothing unless holdfast.lock says which tools of the folder may run')
    .option('--workspace <dir>', 'folder that the file tools work in', '.');
  return addIsolationOption(addTrustOption(addConfigOptions(command)), 'subprocess');
}

function addRunOptions(command: Command, timeout: string): Command {
  return addRedactOption(addApprovalOptions(addQuietOption(command)))
    .option('--concurrency <n>', 'run at most this many nodes at once (default: 10)', readCount)
    .option('--max-calls <n>', 'end it when it asks for one more call than this, nested calls included', readCount)
    .option('--timeout <seconds>', timeout, readSeconds)
    .option('--digest <hex>', 'run no other plan than the one with this digest, or this beginning of one', readDigest);
}

/** 64 bits of it, so that no other plan could be made that begins like it. */
function readDigest(text: string): string {
  const digest = text.toLowerCase();
  if (!/^[0-9a-f]{16,64}$/.test(digest)) {
    throw new InvalidArgumentError('It must be 16 to 64 hexadecimal digits, as `holdfast plan check` prints them.');
  }
  return digest;
}

/** A plan that is only shown asks nobody and is not held to a digest: what is about that would count for nothing. */
function refuseUnrun({ redact, ...flags }: MakeFlags): void {
  const { yes, unattended, suspend, approvalTimeout, env, concurrency, maxCalls, digest, quiet } = flags;
  const noRedact = redact === false ? true : undefined;
  const asking = { yes, unattended, suspend, approvalTimeout };
  const given = Object.entries({ ...asking, env, concurrency, maxCalls, digest, quiet, noRedact });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  const flag = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(
    'usage.option_unused',
    `\`--${flag}\` is about running a plan, and this one is only shown: add \`--run\`, or leave it out.`,
  );
}

/** An option before `run` or `check` would be one of `plan`, and count for nothing. */
function refuseOuter(plan: Command): void {
  const stray = plan.options.find((option) => plan.getOptionValueSource(option.attributeName()) === 'cli');
  if (stray === undefined) return;
  plan.error(`error: \`${stray.long}\` stands before the command that it is for: put it behind`);
}

function toPlace({
  config,
  trust,
  tools,
  subfolders,
  locked,
  isolation,
  workspace,
  allow = [],
}: PlaceFlags): PlanPlace {
  return { config, trust, tools, subfolders, locked, isolation, workspace, allow };
}

function toRunOptions(flags: RunFlags): PlanRunOptions {
  const { maxCalls, timeoutMs, approvalTimeoutMs } = readLimits(flags);
  return {
    ...toPlace(flags),
    maxCalls,
    timeoutMs,
    approvalTimeoutMs,
    approval: readApproval(flags) ?? 'ask',
    environment: flags.env ?? [],
    concurrency: flags.concurrency,
    json: flags.json === true,
    quiet: flags.quiet === true,
    redact: flags.redact !== false,
  };
}
