import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { createColors } from './colors.ts';
import { openEquipment, reportProblems } from './equipment.ts';
import { type ExitCode, interruptionCodes, reportFailure, usageError } from './failure.ts';
import { describeTerminal, type Host, type Interruption } from './host.ts';
import { toJsonText } from './json-text.ts';
import { openNamedModel } from './run-setup.ts';
import { createApi } from './serve-api.ts';
import { type ConfigFlag, findModelName, readSettings } from './settings.ts';
import { toPrintable } from './terminal-text.ts';
import { defaultFolder } from './toolset.ts';

export interface ServeOptions {
  readonly config?: ConfigFlag;
  /** Says yes to code that is found. */
  readonly trust?: boolean | undefined;
  /** Absent: that of the configuration, else `local`. */
  readonly model: string | undefined;
  /** One of this machine. */
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Conversations that a local model answers at once. */
  readonly parallel: number;
  readonly json: boolean;
}

const keyVariable = 'HOLDFAST_SERVER_KEY';

/** Nobody outside of this machine can reach them. */
const addresses: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/**
 * Serves a model to programs that speak OpenAI's API, until Ctrl-C: 0.
 *
 * @throws HoldfastError `usage.address_refused`, `usage.port_unavailable`, and as `openEquipment` and `openModel`.
 */
export async function serveModel(options: ServeOptions, host: Host): Promise<ExitCode> {
  const { config, trust, address, port, parallel, json } = options;
  if (!addresses.has(address)) {
    throw usageError(
      'usage.address_refused',
      `\`${address}\` is refused: \`serve\` listens on \`127.0.0.1\` or \`::1\` only, which no other machine can reach.`,
    );
  }
  const taken = { stdin: false, stdout: json };
  const settings = await readSettings(
    { config, model: options.model },
    { host, found: { untrusted: 'refuse', trust, tools: false, taken } },
  );
  const name = settings.effective.model.origin.layer === 'default' ? 'local' : findModelName(settings);
  // Tools are the clients' own: no folder of them is read.
  const folder = { name: defaultFolder, path: undefined };
  const equipment = await openEquipment(settings, folder, { lock: { tools: 'ignore' } }, host);
  try {
    reportProblems(equipment, host);
    await using opened = await openNamedModel(name, equipment, { ...host, sequences: parallel });
    const key = host.environment[keyVariable]?.trim();
    const api = createApi({
      model: opened.model,
      name: toServedName(name),
      key: key === '' ? undefined : key,
      clock: host.clock,
      report: (thrown) => reportFailure(thrown, host),
    });
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<Interruption>();
    const write = json ? host.reserveStdout() : (text: string): void => void host.stdout.write(text);
    await listen(api.server, { address, port });
    const stopListening = host.onInterrupt(interrupt);
    try {
      const url = toUrl(api.server);
      const { bold, dim } = createColors(describeTerminal(host.stdout, host.environment).color);
      const served = toPrintable(toServedName(name));
      if (json) write(`${toJsonText({ url, model: toServedName(name) })}\n`);
      else {
        write(`${served} is served at ${bold(url)}, as OpenAI's API. ${dim('Ctrl-C ends it.')}\n`);
        if (opened.about !== undefined) write(`${dim(toPrintable(opened.about))}\n`);
      }
      const cause = await interrupted;
      return cause === 'ctrl-c' ? 0 : interruptionCodes[cause];
    } finally {
      await api.end();
      stopListening();
    }
  } finally {
    await equipment.close();
  }
}

/** Clients are not told where a file lies. */
function toServedName(name: string): string {
  const [, kind = '', path = ''] = /^(script:|local:)(.+)$/s.exec(name) ?? [];
  return kind === '' ? name : `${kind}${basename(path)}`;
}

function listen(server: Server, { address, port }: { readonly address: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'something listens there already' : (error.code ?? error.message);
      reject(
        usageError(
          'usage.port_unavailable',
          `Port ${port} of \`${address}\` cannot be had, ${why}: give another one with \`--port\`, or 0 for any that is free.`,
        ),
      );
    });
    server.listen({ host: address, port }, resolve);
  });
}

function toUrl(server: Server): string {
  // A server that listens on a port has such an address.
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/v1`;
}
