import type { Command } from 'commander';
import { addPlaceOptions, toWork, type WorkFlags } from '../../flags/approval.ts';
import type { CommandContext } from '../../flags/command.ts';
import { collect, readPort, readSeconds } from '../../flags/values.ts';
import { usageError } from '../../terminal/failure.ts';

const help = `
Examples:
  $ holdfast serve --mcp                           a client starts this and speaks over stdin and stdout
  $ holdfast serve --mcp --tools ./plugins --workspace ~/project --session work
  $ holdfast serve --mcp --port 8099               over HTTP, on this machine only, for clients with the token

Serves the tools that \`holdfast run\` would have, under the same policies, packs and lock. A call that needs approval asks the client's
user; where the client cannot ask, it waits --wait seconds for \`holdfast approve\` and is then refused. Over HTTP a client needs the token of
HOLDFAST_MCP_TOKEN, or the one that is printed.

Needs the package @holdfast/mcp.`;

interface ServeFlags extends WorkFlags {
  readonly mcp?: boolean;
  readonly port?: number;
  readonly session?: string;
  readonly wait: number;
}

export function declare(command: Command, { host, version, end }: CommandContext): void {
  addPlaceOptions(
    command
      .option('--mcp', 'serve the Model Context Protocol')
      .option(
        '--port <number>',
        'serve HTTP on this port of 127.0.0.1; 0: a free one (default: stdin and stdout)',
        readPort,
      )
      .option('--session <id>', 'session to use or create (default: a new one)')
      .option('--allow <name>', 'allow this dangerous tool without asking; repeatable', collect)
      .option('--wait <seconds>', 'how long a call waits for a person where the client cannot ask', readSeconds, 30),
    'require a holdfast.lock for the tools folder',
  )
    .addHelpText('after', help)
    .action(async ({ mcp, port, session, wait, ...flags }: ServeFlags) => {
      if (mcp !== true) throw usageError('protocol_missing', 'Say what to serve: `holdfast serve --mcp`.');
      const { serveTools } = await import('./serve-tools.ts');
      end(await serveTools({ ...toWork(flags), port, session, version, waitMs: wait * 1_000 }, host));
    });
}
