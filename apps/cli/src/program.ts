import { Command, CommanderError, Help } from 'commander';
import { type CommandEntry, groups } from './commands/groups.ts';
import { findUnquoted } from './commands/unquoted.ts';
import { type ExitCode, reportFailure, toExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';
import { toPrintableBlock } from './terminal/text.ts';

const footer = `
Examples:
  $ holdfast doctor                              is everything here that a run needs?
  $ holdfast run "Count the words in README.md"
  $ holdfast plan "Read README.md and write it to copy.md" --run      first a plan, which is checked, and then nothing but the plan
  $ holdfast trace                               what became of the last plan
  $ holdfast new tool make_slug                  a tool of your own; \`try\`, \`check\` and \`lock\` are about it
  $ holdfast show                                what was called, decided and changed
  $ holdfast why call-2                          why that call ran, or did not
  $ holdfast config                              plugins, packs and limits that are in force, and whose they are
  $ holdfast pending                             what waits for an answer, was interrupted or is in doubt
  $ holdfast resume                              go on with a run that waited or was killed
  $ holdfast model list                          small language models to download, for --model local:NAME
  $ holdfast run --help                          models, approvals, more examples

Exit codes:
  0    the command did its work; for run: the run completed (a call that was denied is part of a completed run); for plan run: every
       node succeeded
  1    it did not: a run or plan that ended otherwise, no plan for a request, a bad tool file, a damaged log, an error
  2    the command line or the configuration is wrong, or names what is not there
  3    run, plan run, resume: it waits for a person; \`holdfast pending\` shows for what
  4    code that was found in this folder is not trusted, and nobody said yes; \`holdfast trust --help\` has the ways to go on
  130  Ctrl-C; the log of the run has its end. A second Ctrl-C does not wait for that. (143: SIGTERM, 129: the terminal was closed)

Where a plugin has a command, \`holdfast NAME\` runs it; \`holdfast list --tree\` names them.
NO_COLOR turns colours off, HOLDFAST_DEBUG=1 shows the stacks of errors.`;

/**
 * Runs the program with the arguments `argv` (without those of Node) and answers how it ends. Never throws.
 *
 * Only the command that is called is loaded, so that none waits for the others.
 */
export async function runProgram(argv: readonly string[], host: Host, version: string): Promise<number> {
  let exitCode: number = 0;
  const { program, entries } = createProgram(host, version);
  try {
    const word = findForeignWord(argv, program);
    if (word !== undefined) {
      const { runPluginCommand } = await import('./commands/plugin.ts');
      const ended = await runPluginCommand({ name: word, words: argv.slice(1) }, host);
      if (ended !== undefined) return ended;
    }
    const [called, entry] = findCalled(argv, entries) ?? [];
    const end = (code: ExitCode): void => {
      exitCode = code;
    };
    if (called !== undefined) (await entry?.load())?.declare(called, { host, version, end });
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

type Entries = ReadonlyMap<Command, CommandEntry>;

/** The command that is called, or that help is asked for. */
function findCalled(argv: readonly string[], entries: Entries): readonly [Command, CommandEntry] | undefined {
  const [word, next] = argv.filter((each) => !each.startsWith('-'));
  const name = word === 'help' ? next : word;
  return [...entries].find(([, entry]) => entry.name === name);
}

/** The first word, when it is no command of this program: it may be one of a plugin. */
function findForeignWord([word = '']: readonly string[], program: Command): string | undefined {
  const isOwn = word === 'help' || program.commands.some((one) => one.name() === word);
  return isOwn || !/^[a-z0-9]/.test(word) ? undefined : word;
}

function createProgram(host: Host, version: string): { readonly program: Command; readonly entries: Entries } {
  const entries = new Map<Command, CommandEntry>();
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
      host.command === 'holdfast' ? footer : `${footer}\nHere, \`holdfast\` is \`${host.command}\`.`,
    )
    .exitOverride()
    .configureHelp({
      subcommandTerm(one) {
        const entry = entries.get(one);
        return entry === undefined ? Help.prototype.subcommandTerm.call(this, one) : `${entry.name} ${entry.term}`;
      },
    })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(toPrintableBlock(text)),
      getOutHelpWidth: () => helpWidth(host.stdout),
      getErrHelpWidth: () => helpWidth(host.stderr),
    });
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const entry of commands) entries.set(program.command(entry.name).description(entry.description), entry);
  }
  // Behind the groups, so that it is in the last one.
  program.helpCommand('help [command]', 'print help for a command');
  return { program, entries };
}

function helpWidth({ columns }: { readonly columns?: number }): number {
  return Math.min(columns || 100, 120);
}
