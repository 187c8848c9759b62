import { Command, CommanderError } from 'commander';
import { addApprovalCommands } from './approval-commands.ts';
import { findUnquoted } from './commands/unquoted.ts';
import { addDoctorCommand } from './doctor-program.ts';
import {
  addApprovalOptions,
  addIsolationOption,
  addLimitOptions,
  addQuietOption,
  addRedactOption,
  type GoingFlags,
  readApproval,
  readLimits,
} from './flags/approval.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './flags/config.ts';
import { collectNames, subfoldersText } from './flags/values.ts';
import { checkHelp, exitCodes, runHelp } from './help-texts.ts';
import { addLockCommand } from './lock-program.ts';
import { addLogCommands } from './log-program.ts';
import { addModelCommand } from './model-program.ts';
import { addNewCommand } from './new-program.ts';
import { addOverridesCommand } from './overrides-program.ts';
import { addPackCommand } from './pack-program.ts';
import { addPlanCommands } from './plan-program.ts';
import { addPolicyCommand } from './policy-program.ts';
import { addRegistryCommands } from './registry-program.ts';
import { type ExitCode, reportFailure, toExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';
import { readRequest } from './terminal/request.ts';
import { toPrintableBlock } from './terminal/text.ts';
import { addTrustCommand } from './trust-program.ts';
import { addTryCommand } from './try-program.ts';

interface RunFlags extends GoingFlags, ConfigFlags {
  readonly tools?: string;
  readonly subfolders?: boolean;
  readonly locked?: boolean;
  readonly workspace: string;
  readonly model?: string;
  readonly json?: boolean;
  readonly order?: readonly (readonly string[])[];
}

/**
 * Runs the program with the arguments `argv` (without those of Node) and answers how it ends. Never throws.
 *
 * Each command imports its own code when it is called, so that none waits for the others to load.
 */
export async function runProgram(argv: readonly string[], host: Host, version: string): Promise<number> {
  let exitCode: number = 0;
  const program = createProgram(host, version, (code) => {
    exitCode = code;
  });
  try {
    const word = findForeignWord(argv, program);
    if (word !== undefined) {
      const { runPluginCommand } = await import('./commands/plugin.ts');
      const ended = await runPluginCommand({ name: word, words: argv.slice(1) }, host);
      if (ended !== undefined) return ended;
    }
    const unquoted = findUnquoted(argv, program, host);
    if (unquoted !== undefined) program.error(`error: ${unquoted}`);
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its message already; help and version come as errors of code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    reportFailure(thrown, host);
    return toExitCode(thrown);
  }
}

/** The first word, when it is no command of this program: it may be one of a plugin. */
function findForeignWord([word = '']: readonly string[], program: Command): string | undefined {
  const isOwn = word === 'help' || program.commands.some((command) => command.name() === word);
  return isOwn || !/^[a-z0-9]/.test(word) ? undefined : word;
}

function createProgram(host: Host, version: string, end: (code: ExitCode) => void): Command {
  const program = new Command('holdfast')
    .description(
      'Runs governed tools: every call is checked, approved where it must be, undone when it fails, and recorded.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    // What stands behind a command is that command's, and behind a command of its own that one's.
    .enablePositionalOptions()
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

  program.commandsGroup('Runs and plans:');
  const run = program
    .command('run')
    .description('give a request to a model that works with your tools and the files of the workspace')
    .argument('<request>', 'what to do, in quotes; - reads it from standard input')
    .option('--tools <dir>', 'folder of tool files (default: ./plugins, when there is one)')
    .option('--subfolders', subfoldersText)
    .option('--locked', 'do not run unless holdfast.lock says which tools of the folder may run')
    .option('--workspace <dir>', 'folder that the file tools work in', '.')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: offline)',
    )
    .option('--json', 'one JSON event a line on stdout, and nothing else there');
  addIsolationOption(addTrustOption(addConfigOptions(run)), 'subprocess');
  addLimitOptions(
    addRedactOption(addApprovalOptions(addQuietOption(run))).option(
      '--order <tools>',
      'a,b,c: b runs only after a has succeeded, c only after b; may be repeated',
      collectNames,
    ),
  )
    .addHelpText('after', runHelp)
    .action(async (request: string, flags: RunFlags) => {
      const { runRequest } = await import('./run/request.ts');
      end(
        await runRequest(
          {
            ...readLimits(flags),
            request: await readRequest(request, host),
            stdinTaken: request === '-',
            config: flags.config,
            trust: flags.trust,
            tools: flags.tools,
            subfolders: flags.subfolders,
            locked: flags.locked,
            isolation: flags.isolation,
            workspace: flags.workspace,
            model: flags.model,
            json: flags.json === true,
            quiet: flags.quiet === true,
            approval: readApproval(flags) ?? 'ask',
            allow: flags.allow ?? [],
            environment: flags.env ?? [],
            order: flags.order ?? [],
            redact: flags.redact !== false,
          },
          host,
        ),
      );
    });

  addPlanCommands(program, host, end);

  program.commandsGroup('Waiting and interrupted runs:');
  addApprovalCommands(program, host, end);

  program.commandsGroup('Logs:');
  addLogCommands(program, host, end);

  program.commandsGroup('Tools:');
  addNewCommand(program, host, version, end);
  addTryCommand(program, host, end);
  program
    .command('check')
    .description('check a folder of tool files without running them')
    .argument('[dir]', 'folder of tool files (default: ./plugins)')
    .option('--strict', 'treat warnings as errors')
    .option('--subfolders', subfoldersText)
    .option('--watch', 'check again whenever something changes, until Ctrl-C')
    .option('--json', 'as JSON; with --watch one line each time')
    .addHelpText('after', checkHelp)
    .action(async (folder: string | undefined, { strict, subfolders, watch, json }: CheckFlags) => {
      const read = { strict: strict === true, subfolders: subfolders === true };
      const given = { folder, ...read, json: json === true };
      if (watch !== true) {
        const { checkFolder } = await import('./commands/tools/check.ts');
        return end(await checkFolder(given, host));
      }
      const { watchFolder } = await import('./commands/tools/check-watch.ts');
      end(await watchFolder(given, host));
    });

  addLockCommand(program, host, end);

  program.commandsGroup('Configuration and plugins:');
  addRegistryCommands(program, host, end);
  addTrustCommand(program, host, end);

  program.commandsGroup('Policies and prompts:');
  addPackCommand(program, host, end);
  addPolicyCommand(program, host, end);
  addOverridesCommand(program, host, end);

  program.commandsGroup('Models and this program:');
  addModelCommand(program, host, end);
  addDoctorCommand(program, host, end);

  // Behind the groups, so that it is in the last one.
  return program.helpCommand('help [command]', 'print help for a command');
}

interface CheckFlags {
  readonly strict?: boolean;
  readonly subfolders?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
}

function helpWidth({ columns }: { readonly columns?: number }): number {
  return Math.min(columns || 100, 120);
}
