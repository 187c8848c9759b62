import { randomBytes } from 'node:crypto';
import type { McpServing } from '@holdfast/mcp';
import { loadMcp } from '../../mcp/load.ts';
import { SessionTurns } from '../../mcp/turns.ts';
import { openWorkshop } from '../../plan/setup.ts';
import type { WorkPlace } from '../../run/open.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { createSessionId, isSessionId } from '../../workspace/session-logs.ts';

export interface ServeOptions extends WorkPlace {
  readonly session: string | undefined;
  readonly waitMs: number;
  /** `undefined`: over stdin and stdout. */
  readonly port: number | undefined;
  readonly version: string;
}

const tokenVariable = 'HOLDFAST_MCP_TOKEN';

/**
 * Serves the tools that a run would have to MCP clients, until the client goes or the program is interrupted.
 *
 * @throws HoldfastError `mcp.unreachable`, and as `openWorkshop`.
 */
export async function serveTools(options: ServeOptions, host: Host): Promise<ExitCode> {
  const { allow, port, session, version, waitMs } = options;
  if (session !== undefined && !isSessionId(session)) {
    throw usageError(
      'session_invalid',
      '`--session` takes 1 to 100 of a-z, 0-9 and -, beginning with a letter or digit.',
    );
  }
  const { serveMcp, listenMcp } = await loadMcp();
  return await openWorkshop(options, { stdinTaken: true }, host, async ({ workspace, setup }): Promise<ExitCode> => {
    const { tools, slices, policies, resources, facts } = setup;
    const id = session ?? createSessionId({ clock: host.clock, suffix: host.createSuffix() });
    const sessions = new SessionTurns({ id, workspace, slices }, host);
    const serving = serveMcp(
      { tools },
      {
        sessions,
        policies,
        resources,
        facts,
        waitMs,
        clock: host.clock,
        info: { name: 'holdfast', version },
        grants: allow,
      },
    );
    try {
      if (port === undefined) await serveClient(serving, host);
      else await serveHttp(serving, { port, listenMcp }, host);
    } finally {
      await serving.close();
      await sessions.close();
    }
    return 0;
  });
}

async function serveClient(serving: McpServing, host: Host): Promise<void> {
  const connected = serving.stdio({ input: host.stdin, output: host.stdout });
  const stopListening = host.onInterrupt(() => void connected.close());
  await connected.closed;
  stopListening();
}

async function serveHttp(
  serving: McpServing,
  { port, listenMcp }: { readonly port: number } & Pick<typeof import('@holdfast/mcp'), 'listenMcp'>,
  host: Host,
): Promise<void> {
  const given = host.environment[tokenVariable];
  const token = given === undefined || given === '' ? randomBytes(24).toString('base64url') : given;
  const listening = await listenMcp(serving, { port, tokens: new Map([[token, 'http']]) });
  host.stderr.write(`Serving MCP at ${listening.url}\n`);
  if (token !== given) host.stderr.write(`Clients send this header: Authorization: Bearer ${token}\n`);
  await new Promise<void>((resolve) => {
    host.onInterrupt(() => resolve());
  });
  await listening.close();
}
