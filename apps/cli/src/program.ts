import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { checkFolder } from './check-command.ts';
import { createColors } from './colors.ts';
import { printCompletion } from './completion-command.ts';
import { examine } from './doctor-command.ts';
import { type ExitCode, formatFailure, toExitCode } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { listTools } from './list-command.ts';
import { readRequest } from './request.ts';
import { runRequest } from './run-command.ts';
import { showSession } from './show-command.ts';
import { toPrintableBlock } from './terminal-text.ts';

const exitCodes = `
Examples:
  $ holdfast doctor                              is everything here that a run needs?
  $ holdfast run "Count the words in README.md"
  $ holdfast show                                what was called, decided and changed
  $ holdfast run --help                          models, approvals, more examples

Exit codes:
  0    the command did its work; for run: the run completed (a call that was denied is part of a completed run)
  1    it did not: a run that ended otherwise, a bad tool file, a damaged log, an error
  2    the command line is wrong
  130  Ctrl-C; the log of the run has its end. A second Ctrl-C does not wait for that. (143: SIGTERM, 129: the terminal was closed)

NO_COLOR turns colours off, HOLDFAST_DEBUG=1 shows the stacks of errors.`;

const runHelp = `
Examples:
  $ holdfast run "List every TODO comment in the sources and write them to report.md"
  $ holdfast run "Sum the column amount in data/sales.csv" --workspace ~/project --tools ./plugins
  $ holdfast run "Delete every file matching *.log" --unattended        nobody is asked: dangerous calls are denied
  $ holdfast run "Delete every file matching *.log" --allow delete_files
  $ holdfast run "Delete every file matching *.log" --yes --order glob_files,delete_files      look first
  $ holdfast run "Count the words in README.md" --json | jq -r .type
  $ holdfast run "Write the notes" --model script:notes.json
  $ holdfast run "Summarise README.md" --model openai:gpt-5      after \`npm install @ai-sdk/openai\`
  $ holdfast run - < request.txt      a request that is too long for a command line

Models:
  offline        rules, no network and no key; a stand-in, not a language model
  script:<file>  plays the messages in a JSON file, { "turns": [{ "calls": [{ "name": …, "arguments": … }] }, { "text": … }] }
  <provider>:<model>
                 through the package @ai-sdk/<provider> that you installed here, with its key in the environment:
                 openai:gpt-5, anthropic:claude-sonnet-4-5, google:gemini-2.5-pro
  <package>:<model>
                 through any other AI SDK provider, as @acme/provider:one
  openai-compatible:<model>
                 at the server OPENAI_COMPATIBLE_BASE_URL, with OPENAI_COMPATIBLE_API_KEY if it wants one

Approvals:
  A call that needs one is asked for at the terminal. Without a terminal, or with --unattended, it is denied.

Session log:
  <workspace>/.holdfast/sessions/<id>.jsonl; see it with \`holdfast show\`.`;

const showHelp = `
Examples:
  $ holdfast show                               the newest session of this folder
  $ holdfast show 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast show --json | jq 'select(.type == "tool-call-end").outcome.kind'

Exits with 1 when the log is torn or was changed after it was written.`;

const listHelp = `
Examples:
  $ holdfast list
  $ holdfast list --tools examples/plugins --json`;

const checkHelp = `
Examples:
  $ holdfast check plugins
  $ holdfast check plugins --strict     warnings are errors
  $ holdfast check plugins --json

No line of a tool file runs. Exits with 1 when a file is refused.`;

const doctorHelp = `
Examples:
  $ holdfast doctor
  $ holdfast doctor --workspace ~/project --json

Nothing is written, and of a key only whether it is set is said. Exits with 1 when something keeps \`run\` from working.`;

const completionHelp = `
Examples:
  $ source <(holdfast completion bash)                                    in ~/.bashrc
  $ source <(holdfast completion zsh)                                     in ~/.zshrc, after compinit
  $ holdfast completion fish > ~/.config/fish/completions/holdfast.fish   once`;

interface RunFlags {
  readonly tools?: string;
  readonly workspace: string;
  readonly model: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly unattended?: boolean;
  readonly allow?: readonly string[];
  readonly order?: readonly (readonly string[])[];
  readonly maxRounds?: number;
  readonly timeout?: number;
}

/** Runs the program with the arguments `argv` (without those of Node) and answers how it ends. Never throws. */
export async function runProgram(argv: readonly string[], host: Host, version: string): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(host, version, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its message already; help and version come as errors of code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    const { color } = describeTerminal(host.stderr, host.environment);
    const debug = host.environment['HOLDFAST_DEBUG'] === '1';
    host.stderr.write(formatFailure(thrown, { colors: createColors(color), debug }));
    return toExitCode(thrown);
  }
}

function createProgram(host: Host, version: string, end: (code: ExitCode) => void): Command {
  const program = new Command('holdfast')
    .description(
      'Runs governed tools: every call is checked, approved where it must be, undone when it fails, and recorded.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .showHelpAfterError('(`holdfast --help` lists the commands, `holdfast <command> --help` shows examples)')
    .addHelpText(
      'after',
      host.command === 'holdfast' ? exitCodes : `${exitCodes}\nHere, \`holdfast\` is \`${host.command}\`.`,
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(toPrintableBlock(text)),
      getOutHelpWidth: () => helpWidth(host.stdout),
      getErrHelpWidth: () => helpWidth(host.stderr),
    });

  program
    .command('run')
    .description('give a request to a model that works with your tools and the files of the workspace')
    .argument('<request>', 'what to do, in quotes; - reads it from standard input')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--workspace <dir>', 'folder that the file tools work in', '.')
    .option('--model <model>', 'offline, script:<file> or <provider>:<model>', 'offline')
    .option('--json', 'one JSON event a line on stdout, and nothing else there')
    .addOption(new Option('--yes', 'approve every call that has to be approved').conflicts('unattended'))
    .option('--unattended', 'deny every call that has to be approved')
    .option('--allow <name>', 'let this dangerous tool run without asking; may be repeated', collect)
    .option(
      '--order <tools>',
      'a,b,c: b runs only after a has succeeded, c only after b; may be repeated',
      collectNames,
    )
    .option('--max-rounds <n>', 'end the run after this many messages of the model', readCount)
    .option('--timeout <seconds>', 'end the run after this time', readSeconds)
    .addHelpText('after', runHelp)
    .action(async (request: string, { timeout, ...flags }: RunFlags) => {
      end(
        await runRequest(
          {
            request: await readRequest(request, host),
            stdinTaken: request === '-',
            tools: flags.tools,
            workspace: flags.workspace,
            model: flags.model,
            json: flags.json === true,
            approval: flags.yes === true ? 'yes' : flags.unattended === true ? 'unattended' : 'ask',
            allow: flags.allow ?? [],
            order: flags.order ?? [],
            maxRounds: flags.maxRounds,
            timeoutMs: timeout === undefined ? undefined : timeout * 1000,
          },
          host,
        ),
      );
    });

  program
    .command('show')
    .description('print the log of a session')
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--json', 'the records as they are, one a line')
    .addHelpText('after', showHelp)
    .action(
      async (id: string | undefined, { workspace, json }: { readonly workspace: string; readonly json?: boolean }) => {
        end(await showSession({ id, workspace, json: json === true }, host));
      },
    );

  program
    .command('list')
    .description('list the tools that a run is offered, with their origin and effects')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--json', 'as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ tools, json }: { readonly tools?: string; readonly json?: boolean }) => {
      end(await listTools({ tools, json: json === true }, host));
    });

  program
    .command('check')
    .description('check a folder of tool files without running them')
    .argument('<dir>', 'folder of tool files')
    .option('--strict', 'treat warnings as errors')
    .option('--json', 'as JSON')
    .addHelpText('after', checkHelp)
    .action(async (folder: string, { strict, json }: { readonly strict?: boolean; readonly json?: boolean }) => {
      end(await checkFolder({ folder, strict: strict === true, json: json === true }, host));
    });

  program
    .command('doctor')
    .description('say what is found here: Node.js, packages, model providers, tools, workspace, isolation')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--workspace <dir>', 'folder that the file tools work in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', doctorHelp)
    .action(async ({ tools, workspace, json }: DoctorFlags) => {
      end(await examine({ tools, workspace, json: json === true }, host, process.versions.node));
    });

  program
    .command('completion')
    .description('print a script that completes this program in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', completionHelp)
    .action((shell: string) => {
      end(printCompletion(shell, program, host));
    });

  return program;
}

interface DoctorFlags {
  readonly tools?: string;
  readonly workspace: string;
  readonly json?: boolean;
}

function helpWidth({ columns }: { readonly columns?: number }): number {
  return Math.min(columns || 100, 120);
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

function collectNames(value: string, earlier: readonly (readonly string[])[] = []): readonly (readonly string[])[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.length < 2 || names.includes('')) {
    throw new InvalidArgumentError('It must be two or more names of tools with commas between them.');
  }
  return [...earlier, names];
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return count;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && Number.isFinite(seconds)))
    throw new InvalidArgumentError('It must be a number of seconds above 0.');
  return seconds;
}
