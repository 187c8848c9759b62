import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { collect, readSeconds } from '../../flags/values.ts';
import { toBearer } from '../../mcp/headers.ts';
import type { ServerEntry } from '../../mcp/pins.ts';
import { usageError } from '../../terminal/failure.ts';

const help = `
Examples:
  $ holdfast mcp wrap -- npx -y @modelcontextprotocol/server-filesystem .
  $ holdfast mcp import .mcp.json                 wrap every server in it; \`restore\` undoes it
  $ holdfast mcp wrap --header Authorization --url https://example.com/mcp     with the header's value in the variable \`Authorization\`
  $ holdfast mcp pin -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 .           show what the server offers, and ask
  $ holdfast lock --accept mcp:files              pin a server that a client has started as it is now
  $ holdfast mcp wrap --name github --session work -- docker run -i ghcr.io/github/github-mcp-server

Write such a command into a client's configuration in place of the server's own, as \`import\` does. The client sees the same tools and results; each call
is judged by what it does and is in a log of yours (\`holdfast pending\`, \`approve\`, \`show\`, \`why\`). A call that needs approval asks you
in the client, or, where it cannot ask, waits for \`holdfast approve\` and is then refused.

A server is started once you have pinned it, and held to what you have seen: a tool that was changed or added leaves the list, and its calls
are refused. Pins are in the project's holdfast.lock, or with --user in your own.

Needs the package @holdfast/mcp.`;

const userText = "a server of yours rather than the project's: its pin is in your own lock";

interface PlaceFlags {
  readonly name: string;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly bearer?: string;
  readonly env?: readonly string[];
  readonly user?: boolean;
}

interface WrapFlags extends PlaceFlags {
  readonly session?: string;
  readonly wait: number;
  readonly trustAnnotations?: boolean;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command.addHelpText('after', help);
  command
    .command('wrap')
    .description('stand between an MCP client and a server')
    .argument('[command]', 'the program of the server, after `--`')
    .argument('[args...]', 'its arguments')
    .option('--name <name>', 'name of the server in the log and in policies', readName, 'server')
    .option('--url <address>', 'the address of the server, in place of a program')
    .option(
      '--header <name>',
      'send this header to it, with the value of the variable of that name; repeatable',
      collect,
    )
    .option('--bearer <name>', 'authorize with the token in the variable of this name', readVariable)
    .option('--env <name>', 'pass this variable to its program; repeatable', collectNames)
    .option('--user', userText)
    .option('--session <name>', 'one session for every client that says this name (default: one a client process)')
    .option('--wait <seconds>', 'how long a call waits for a person where the client cannot ask', readSeconds, 30)
    .option('--trust-annotations', "believe the server's hints about which tools only read")
    .action(async (program: string | undefined, args: readonly string[], flags: WrapFlags) => {
      const { wrapServer } = await import('./wrap.ts');
      const { trustAnnotations, wait, session } = flags;
      const options = { session, waitMs: wait * 1_000, trustAnnotations: trustAnnotations === true };
      end(await wrapServer(toEntry(program, args, flags), options, host));
    });
  command
    .command('pin')
    .description('show how a server differs from what you have seen of it, and accept that')
    .argument('[command]', 'the program of the server, after `--`')
    .argument('[args...]', 'its arguments')
    .option('--name <name>', 'name of the server, as for `wrap`', readName, 'server')
    .option('--url <address>', 'the address of the server, in place of a program')
    .option('--header <name>', 'send this header to it, as for `wrap`; repeatable', collect)
    .option('--bearer <name>', 'authorize with the token in this variable, as for `wrap`', readVariable)
    .option('--env <name>', 'pass this variable to its program, as for `wrap`; repeatable', collectNames)
    .option('--user', userText)
    .option('--accept', 'pin the server as it is now, without a question')
    .action(async (program: string | undefined, args: readonly string[], flags: PinFlags) => {
      const { pinServer } = await import('./pin.ts');
      end(await pinServer(toEntry(program, args, flags), { accept: flags.accept === true }, host));
    });
  const edit = (name: 'import' | 'restore', description: string): void => {
    command
      .command(name)
      .description(description)
      .argument('<file>', 'settings of a client, such as .mcp.json, ~/.claude.json or ~/.codex/config.toml')
      .action(async (file: string) => {
        const { importSettings } = await import('./import.ts');
        const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
        end(await importSettings({ file, program, restore: name === 'restore' }, host));
      });
  };
  edit('import', "write `mcp wrap` in front of every server in a client's settings");
  edit('restore', 'remove it again');
}

interface PinFlags extends PlaceFlags {
  readonly accept?: boolean;
}

function toEntry(
  command: string | undefined,
  args: readonly string[],
  { name, url, header = [], bearer, env = [], user = false }: PlaceFlags,
): ServerEntry {
  if (command !== undefined && url === undefined && header.length === 0 && bearer === undefined)
    return { name, user, start: { command, args, environment: env } };
  if (command === undefined && url !== undefined && env.length === 0)
    return { name, user, start: { url, headers: [...header, ...(bearer === undefined ? [] : [toBearer(bearer)])] } };
  throw usageError(
    'server_missing',
    'Say which server: its program after `--`, or its address by `--url`, with `--header` for what it needs.',
  );
}

/** A value would be visible to other users in the list of processes. */
function collectNames(name: string, earlier: readonly string[] = []): readonly string[] {
  if (/^[^=]+$/.test(name)) return [...earlier, name];
  throw new InvalidArgumentError('Expected the name of a variable, without its value.');
}

function readVariable(name: string): string {
  if (/^\w+$/.test(name)) return name;
  throw new InvalidArgumentError('Expected the name of a variable, without its value.');
}

function readName(text: string): string {
  if (/^[a-z0-9_-]{1,24}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 24 of a-z, 0-9, _ and -.');
}
