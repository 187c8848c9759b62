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
  $ holdfast plan check copy.plan.json         is it valid here, and what needs approval?
  $ holdfast plan run copy.plan.json
  $ holdfast plan "Read README.md and write it to copy.md" --run
  $ holdfast plan "Summarize docs" --model openai:gpt-5 --json | holdfast plan run -
  $ holdfast plan "Read README.md and write it to copy.md" --mermaid

A plan is a graph of tool calls, written before any of them runs. It is checked as a whole: tools, inputs, references, order, and
calls that the policies are certain to deny. Problems go back to the model, at most twice. Nothing runs until the plan is valid, and
then only the plan.

The requests "check" and "run" alone are commands; any other text is a request. Exits with 1 if there is no valid plan.`;

const planCheckHelp = `
Examples:
  $ holdfast plan check copy.plan.json
  $ holdfast plan check copy.plan.json --tools my-tools --json | jq '.violations[].code'
  $ holdfast plan "Read README.md and write it to copy.md" --json | holdfast plan check -

Lists every problem at once, each with a code and a path. Runs no tool code except schemas and locks. The digest identifies the
plan: \`holdfast plan run --digest\` runs only that one. Exits with 1 if the plan is not valid.`;

const planRunHelp = `
Examples:
  $ holdfast plan run copy.plan.json
  $ holdfast plan run copy.plan.json --digest 3b1f5cf02d7a9e44      only the plan that was reviewed
  $ holdfast plan run copy.plan.json --concurrency 2 --max-calls 50 --timeout 120
  $ holdfast plan run copy.plan.json --suspend                      wait for \`holdfast approve\`
  $ holdfast plan run copy.plan.json --json | jq -c 'select(.type == "node-end").node | {node, kind}'

No model takes part. Each node is an ordinary call: checked by policies, approved if needed, rolled back on failure, recorded.
\`holdfast resume\` continues a suspended or interrupted plan without repeating nodes that have ended; \`holdfast trace\` shows each node.

Exit codes: 0 every node succeeded; 1 some did not, or the plan was stopped; 3 waiting for a person, see \`holdfast pending\`.`;

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
    .argument('<request>', 'what to do, in quotes; - reads standard input')
    // So that options after `run` and `check` belong to those commands.
    .enablePositionalOptions()
    .helpCommand(false);
  addPlace(plan)
    .option('--model <model>', 'model that writes the plan, as for `run` (default: offline, which uses rules)')
    .addOption(new Option('--json', 'print the plan as JSON; with --run, print JSON lines').conflicts('mermaid'))
    .addOption(new Option('--mermaid', 'print the plan as a Mermaid flowchart').conflicts('run'))
    .option('--output <file>', 'also write the plan to this file')
    .option('--force', 'with --output: replace an existing file')
    .option('--run', 'run the plan at once');
  addRunOptions(plan, 'limit for the run, and for the model that writes the plan')
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
    .argument('<file>', 'plan as JSON; - reads standard input')
    .option('--json', 'print JSON lines, one per event');
  addRunOptions(addPlace(runOne), 'end the run after this time')
    .addHelpText('after', planRunHelp)
    .action(async (file: string, flags: RunFlags) => {
      refuseOuter(plan);
      const { runPlanFile } = await import('./run.ts');
      end(await runPlanFile({ ...toPlanWork(flags), file, digest: flags.digest }, host));
    });

  const check = plan
    .command('check')
    .description('check a plan without running it')
    .argument('<file>', 'plan as JSON; - reads standard input')
    .option('--json', 'print JSON');
  addPlace(check)
    .addHelpText('after', planCheckHelp)
    .action(async (file: string, flags: WorkFlags) => {
      refuseOuter(plan);
      const { checkPlanFile } = await import('./check.ts');
      end(await checkPlanFile({ ...toPlanWork(flags), file }, host));
    });
}

/** Options for what a plan is checked against. */
function addPlace(command: Command): Command {
  return addPlaceOptions(command, 'require a holdfast.lock for the tools folder');
}

function addRunOptions(command: Command, timeout: string): Command {
  return addRedactOption(addApprovalOptions(addQuietOption(command)))
    .option('--concurrency <n>', 'run at most this many nodes in parallel (default: 10)', readCount)
    .option('--max-calls <n>', 'maximum number of calls, including nested ones', readCount)
    .option('--timeout <seconds>', timeout, readSeconds)
    .option('--digest <hex>', 'run only the plan with this digest (a prefix of 16 digits is enough)', readDigest);
}

/** At least 64 bits, so that no other plan can be made with the same prefix. */
function readDigest(text: string): string {
  const digest = text.toLowerCase();
  if (!/^[0-9a-f]{16,64}$/.test(digest)) {
    throw new InvalidArgumentError('Expected 16 to 64 hexadecimal digits, as printed by `holdfast plan check`.');
  }
  return digest;
}

/** Rejects options that have no effect on a plan that is only shown. */
function refuseUnrun({ redact, ...flags }: MakeFlags): void {
  const { yes, unattended, suspend, approvalTimeout, env, concurrency, maxCalls, digest, quiet } = flags;
  const noRedact = redact === false ? true : undefined;
  const asking = { yes, unattended, suspend, approvalTimeout };
  const given = Object.entries({ ...asking, env, concurrency, maxCalls, digest, quiet, noRedact });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  const flag = name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
  throw usageError('option_unused', `\`--${flag}\` only applies to running a plan: add \`--run\` or remove it.`);
}

/** Rejects options before `run` or `check`: they would belong to `plan` and have no effect. */
function refuseOuter(plan: Command): void {
  const stray = plan.options.find((option) => plan.getOptionValueSource(option.attributeName()) === 'cli');
  if (stray === undefined) return;
  plan.error(`error: put \`${stray.long}\` after the subcommand`);
}

function toPlanWork(flags: WorkFlags): WorkGiven {
  const { approval = 'ask', ...work } = toWork(flags);
  return { ...work, approval };
}
