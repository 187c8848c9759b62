import { Command, CommanderError } from 'commander';
import { type CommandEntry, groups } from './commands/groups.ts';
import { findUnquoted } from './commands/unquoted.ts';
import { formatHelp, helpWidth } from './help.ts';
import { reportFailure, toExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';
import { toPrintableBlock } from './terminal/text.ts';

/**
 * Runs the program with the arguments `argv` (without Node's own) and returns the exit code. Never throws.
 *
 * Loads only the called command.
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
    const end = (code: number): void => {
      exitCode = code;
    };
    if (called !== undefined) (await entry?.load())?.declare(called, { host, version, end });
    const unquoted = findUnquoted(argv, program, host);
    if (unquoted !== undefined) program.error(`error: ${unquoted}`);
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has already printed its message; help and version are errors with code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    reportFailure(thrown, host);
    return toExitCode(thrown);
  }
}

type Entries = ReadonlyMap<Command, CommandEntry>;

/** The command that is called, or whose help is requested. */
function findCalled(argv: readonly string[], entries: Entries): readonly [Command, CommandEntry] | undefined {
  const [word, next] = argv.filter((each) => !each.startsWith('-'));
  const name = word === 'help' ? next : word;
  return [...entries].find(([, entry]) => entry.name === name);
}

/** The first word if it is not a command of this program: it may be a plugin's. */
function findForeignWord([word = '']: readonly string[], program: Command): string | undefined {
  const isOwn = word === 'help' || program.commands.some((one) => one.name() === word);
  return isOwn || !/^[a-z0-9]/.test(word) ? undefined : word;
}

function createProgram(host: Host, version: string): { readonly program: Command; readonly entries: Entries } {
  const entries = new Map<Command, CommandEntry>();
  const program = new Command('holdfast')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    // Options after a command belong to that command or subcommand.
    .enablePositionalOptions()
    .showHelpAfterError('(see `holdfast --help` for all commands and `holdfast <command> --help` for examples)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(toPrintableBlock(text)),
      getOutHelpWidth: () => helpWidth(host.stdout.columns),
      getErrHelpWidth: () => helpWidth(host.stderr.columns),
    });
  program.helpInformation = (context) =>
    formatHelp({ command: host.command, columns: (context?.error ? host.stderr : host.stdout).columns });
  for (const entry of groups.flatMap(({ commands }) => commands))
    entries.set(program.command(entry.name).description(entry.description), entry);
  return { program, entries };
}
