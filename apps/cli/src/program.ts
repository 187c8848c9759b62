import { Command, CommanderError } from 'commander';
import { type CommandEntry, groups } from './commands/groups.ts';
import { findUnquoted } from './commands/unquoted.ts';
import { formatHelp, helpWidth } from './help.ts';
import { type ExitCode, reportFailure, toExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';
import { toPrintableBlock } from './terminal/text.ts';

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
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    // What stands behind a command is that command's, and behind a command of its own that one's.
    .enablePositionalOptions()
    .showHelpAfterError('(`holdfast --help` lists the commands, `holdfast <command> --help` shows examples)')
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
