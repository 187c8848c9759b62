import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createFacts, mcpFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import type { FirstClient, McpEvent, ServedTools } from '@holdfast/mcp';
import { identifyClient } from '../../guard/client-process.ts';
import { codingPolicies } from '../../guard/coding.ts';
import { announceGoverned, heardRequest } from '../../guard/governed.ts';
import { findWorkFolder, homeFolder } from '../../guard/place.ts';
import { readGuardRules } from '../../guard/rules.ts';
import { loadMcp } from '../../mcp/load.ts';
import { type Opened, openPinned, takeAccepted } from '../../mcp/open-pinned.ts';
import type { ServerEntry } from '../../mcp/pins.ts';
import { readFirst } from '../../mcp/read-first.ts';
import { SessionTurns } from '../../mcp/turns.ts';
import { type PinWatch, watchPins } from '../../mcp/watch-pins.ts';
import { type ExitCode, reportFailure, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toPrintable } from '../../terminal/text.ts';
import { openGuardFolder } from '../../user/guard-folder.ts';

export interface WrapOptions {
  readonly session: string | undefined;
  readonly waitMs: number;
  readonly trustAnnotations: boolean;
}

/**
 * Stands between a client on stdin and stdout and a server, until the client goes. Nothing is started or opened before the client speaks,
 * and no log before its first call: a client may start it twice to find out what it is.
 *
 * @throws HoldfastError `mcp.unreachable`, `usage.*`, `config.invalid`.
 */
export async function wrapServer(entry: ServerEntry, options: WrapOptions, host: Host): Promise<ExitCode> {
  const { name } = entry;
  const { waitMs, trustAnnotations } = options;
  const mcp = await loadMcp();
  const { folder, workspace } = findWorkFolder(host.directory, existsSync);
  const policies = [...codingPolicies('mcp', host, await readGuardRules(workspace, host)), readFirst()];
  const view = { folder, workspace, home: homeFolder(host), disk: nodeDisk() };
  const facts = createFacts({ describers: [mcpFacts({ server: name })], view });
  const id = toSessionId(entry, options.session, host);
  const sessions = new SessionTurns({ id, workspace: openGuardFolder(host) }, host);
  const tell = (event: McpEvent): void => void host.stderr.write(`holdfast: ${describeEvent(event)}\n`);
  let opening: Promise<Opened> | undefined;
  let takeBack = (): void => undefined;
  const say = (text: string): void => void host.stderr.write(`holdfast: ${toPrintable(text)}\n`);
  let watch: PinWatch | undefined;
  let accepting: Promise<void> = Promise.resolve();
  /** A person may have accepted what the server is, or what it has changed. */
  const accept = async (): Promise<void> => {
    try {
      const opened = await opening;
      if (opened?.type === 'held') await serving.reopen();
      else if (opened !== undefined) await takeAccepted(entry, mcp, opened, host);
    } catch (thrown) {
      reportFailure(thrown, host);
    }
  };
  const open = async (client: FirstClient): Promise<ServedTools> => {
    try {
      watch ??= await watchPins(entry, host, () => {
        accepting = accepting.then(accept);
      });
      if (!watch.works) say('what you accept while it runs holds from its next start: its lock cannot be watched');
      opening = openPinned(entry, mcp, { trustAnnotations, onEvent: tell, client }, host);
      const opened = await opening;
      takeBack();
      takeBack = announceGoverned({ name, session: id }, host);
      if (opened.type === 'held') {
        say(opened.held.message);
        return { tools: [], held: opened.held };
      }
      if (opened.unchecked !== undefined)
        say(`the files of the package \`${opened.unchecked}\` cannot be checked against its pin`);
      return opened.tools;
    } catch (thrown) {
      // The client learns only that there was an error.
      reportFailure(thrown, host);
      throw thrown;
    }
  };
  const request = (): string | undefined => heardRequest(host);
  const serving = mcp.serveMcp(open, { sessions, policies, facts, waitMs, request, clock: host.clock });
  const connected = serving.stdio({ input: host.stdin, output: host.stdout });
  const stopListening = host.onInterrupt(() => void connected.close());
  await connected.closed;
  watch?.close();
  await accepting;
  takeBack();
  stopListening();
  await serving.close();
  // A server that did not start has nothing to end; `open` has reported why.
  const opened = await opening?.catch(() => undefined);
  if (opened?.type === 'opened') await opened.tools.close();
  await sessions.close();
  return 0;
}

/** One session for a client process and an entry of its configuration. */
function toSessionId(entry: ServerEntry, session: string | undefined, host: Host): string {
  if (session !== undefined) {
    if (!/^[a-z0-9][a-z0-9-]{0,79}$/.test(session)) {
      throw usageError(
        'session_invalid',
        '`--session` takes 1 to 80 of a-z, 0-9 and -, beginning with a letter or digit.',
      );
    }
    return `mcp-${session}`;
  }
  const { name, start } = entry;
  const words = 'url' in start ? [start.url] : [start.command, ...start.args];
  const identity = [identifyClient(), host.directory, name, ...words].join('\0');
  return `mcp-${name.replaceAll('_', '-')}-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
}

function describeEvent(event: McpEvent): string {
  const server = toPrintable(event.server);
  switch (event.type) {
    case 'request-refused':
      return `the server \`${server}\` asked for ${toPrintable(event.method)}, which was refused`;
    case 'elicitation':
      return `the server \`${server}\` asked the user, who answered: ${event.action}`;
    case 'connection-lost':
      return `the server \`${server}\` ended`;
    case 'tools-changed':
      return `the server \`${server}\` has changed its tools`;
    default:
      return event satisfies never;
  }
}
