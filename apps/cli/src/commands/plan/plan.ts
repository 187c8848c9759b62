import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addApprovalOptions,
  addPlaceOptions,
  addQuietOption,
  addRedactOption,
  toWork,
  type WorkFlags,
} from '../../flags/approval.ts';
import type { CommandContext } from '../../flags/command.ts';
import { readCount, readSeconds } from '../../flags/values.ts';
import type { WorkGiven } from '../../run/open.ts';
import { usageError } from '../../terminal/failure.ts';
import { readRequest } from '../../terminal/request.ts';

const planHelp = `
Examples:
  $ holdfast plan "Read README.md and write it to copy.md"
  $ holdfast plan "Read README.md and write it to copy.md" --output copy.plan.json
  $ holdfast plan check copy.plan.json         is it good for the tools that are here, and what will it ask?
  $ holdfast plan run copy.plan.json
  $ holdfast plan "Read README.md and write it to copy.md" --run
  $ holdfast plan "Summarise docs" --model openai:gpt-5 --json | holdfast plan run -
  $ holdfast plan "Read README.md and write it to copy.md" --mermaid

A plan is a graph of tool calls that is written before any of them runs. It is checked as a whole: tools, inputs, references, order, and
what the policies will surely deny. What is wrong goes back to the model, at most twice. Nothing runs before it is good, and nothing runs
that it does not say.

The request "check" or "run" alone is a command; any other text is a request. Exits with 1 when there is no plan that can be run.`;

const planCheckHelp = `
Examples:
  $ holdfast plan check copy.plan.json
  $ holdfast plan check copy.plan.json --tools my-tools --json | jq '.violations[].code'
  $ holdfast plan "Read README.md and write it to copy.md" --json | holdfast plan check -

Everything that is wrong is listed at once, each with a code and a path. Of the tools nothing runs but schemas and locks. The digest stands
for the plan and all that it says: \`holdfast plan run --digest\` runs no other one. Exits with 1 when the plan cannot be run.`;

const planRunHelp = `
Examples:
  $ holdfast plan run copy.plan.json
  $ holdfast plan run copy.plan.json --digest 3b1f5cf02d7a9e44      only the plan that somebody has looked at
  $ holdfast plan run copy.plan.json --concurrency 2 --max-calls 50 --timeout 120
  $ holdfast plan run copy.plan.json --suspend                      it waits for \`holdfast approve\`
  $ holdfast plan run copy.plan.json --json | jq -c 'select(.type == "node-end").node | {node, kind}'

No model takes part. Each node is a call like any other: policies, approval, undone when it fails, recorded. What waits or was killed,
\`holdfast resume\` goes on with: nodes that have ended are not run again. \`holdfast trace\` tells what became of each.

Exit codes: 0 every node succeeded; 1 not all did, or it was stopped; 3 it waits for a person, and \`holdfast pending\` shows for what.`;

interface RunFlags extends WorkFlags {
  readonly digest?: string;
}

interface MakeFlags extends RunFlags {
  readonly mermaid?: boolean;
  readonly output?: string;
  readonly force?: boolean;
  readonly run?: boolean;
}

export function declare(plan: Command, { host, end }: CommandContext): void {
  plan
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
      const { mermaid = false, output, force = false, run = false, digest } = flags;
      if (!run) refuseUnrun(flags);
      const text = await readRequest(request, host);
      const form = { mermaid, output, force, run, digest, request: text, stdinTaken: request === '-' };
      const { makePlan } = await import('./make.ts');
      end(await makePlan({ ...toPlanWork(flags), ...form }, host));
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
      const { runPlanFile } = await import('./run.ts');
      end(await runPlanFile({ ...toPlanWork(flags), file, digest: flags.digest }, host));
    });

  const check = plan
    .command('check')
    .description('check a plan without running it')
    .argument('<file>', 'a plan as JSON; - reads it from standard input')
    .option('--json', 'as JSON');
  addPlace(check)
    .addHelpText('after', planCheckHelp)
    .action(async (file: string, flags: WorkFlags) => {
      refuseOuter(plan);
      const { checkPlanFile } = await import('./check.ts');
      end(await checkPlanFile({ ...toPlanWork(flags), file }, host));
    });
}

/** What a plan is checked against. */
function addPlace(command: Command): Command {
  return addPlaceOptions(command, 'do nothing unless holdfast.lock says which tools of the folder may run');
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

function toPlanWork(flags: WorkFlags): WorkGiven {
  const { approval = 'ask', ...work } = toWork(flags);
  return { ...work, approval };
}
