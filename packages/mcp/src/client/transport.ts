import { HoldfastError } from '@holdfast/core';
import { type OAuthClientProvider, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { learnHeaders, type Secrets, watchProvider } from './authorization.ts';

/** Where a server is: a program that is started, an address, or a transport of the host's own. */
export interface ServerPlace {
  /** Started without a shell, and ended with the connection. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Set for the server, beside the few variables that every program needs. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Where the server's stderr goes. Default `inherit`. */
  readonly stderr?: 'inherit' | 'ignore';
  readonly url?: string;
  /** Sent with each request to `url`, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in at `url`: one of the SDK's providers, or your own. */
  readonly authProvider?: OAuthClientProvider;
  /** Makes a transport for each connection. */
  readonly transport?: () => Transport;
}

/** @throws HoldfastError `options.invalid`. */
export function toTransportMaker(place: ServerPlace, secrets: Secrets): () => Transport {
  const { command, args, env, cwd, stderr = 'inherit', url, headers, authProvider, transport } = place;
  const given = [command, url, transport].filter((one) => one !== undefined).length;
  if (given !== 1) {
    throw new HoldfastError('options.invalid', 'Say where the server is by one of `command`, `url` and `transport`.', {
      data: { reason: given === 0 ? 'missing' : 'several' },
    });
  }
  if (transport !== undefined) return transport;
  if (command !== undefined) {
    return () =>
      endWithHost(
        new StdioClientTransport({
          command,
          stderr,
          ...(args === undefined ? {} : { args: [...args] }),
          ...(env === undefined ? {} : { env: { ...env } }),
          ...(cwd === undefined ? {} : { cwd }),
        }),
      );
  }
  const address = toUrl(url ?? '');
  if (headers !== undefined) learnHeaders(headers, secrets);
  const provider = authProvider === undefined ? undefined : watchProvider(authProvider, secrets);
  return () =>
    new StreamableHTTPClientTransport(address, {
      ...(headers === undefined ? {} : { requestInit: { headers: { ...headers } } }),
      ...(provider === undefined ? {} : { authProvider: provider }),
    });
}

function toUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new HoldfastError(
    'options.invalid',
    `\`url\` must be an http or https address, got \`${text.slice(0, 200)}\`.`,
    {
      data: { reason: 'kind' },
    },
  );
}

/** A server that ignores the end of its stdin would outlive a host that exits. */
function endWithHost(transport: StdioClientTransport): StdioClientTransport {
  const start = transport.start.bind(transport);
  const close = transport.close.bind(transport);
  let stop = (): void => undefined;
  transport.start = async () => {
    await start();
    const kill = (): void => {
      const { pid } = transport;
      try {
        if (pid !== null) process.kill(pid);
      } catch {
        // It has ended already.
      }
    };
    process.on('exit', kill);
    stop = () => process.off('exit', kill);
  };
  transport.close = async () => {
    await close();
    stop();
  };
  return transport;
}
