import type { FirstClient, McpEvent, McpPins, McpTools, McpToolsOptions } from '@holdfast/mcp';
import type { Host } from '../terminal/host.ts';
import { toServerEnvironment } from './environment.ts';
import { readHeaders } from './headers.ts';
import type { McpPackage } from './load.ts';
import type { ServerEntry } from './pins.ts';

export interface OpenServerOptions {
  readonly pins?: McpPins | undefined;
  readonly trustAnnotations?: boolean;
  readonly onEvent?: (event: McpEvent) => void;
  /** Whose user its questions go to. A server may list other tools where it cannot ask. Default: one that can be asked everything. */
  readonly client?: FirstClient;
}

/**
 * Starts a server in its client's folder, with the variables that its entry names, or connects to one.
 *
 * @throws HoldfastError `usage.invalid` (`header_missing`), and as `mcpTools`.
 */
export async function openServer(
  { name, start }: ServerEntry,
  { mcpTools }: Pick<McpPackage, 'mcpTools'>,
  { pins, trustAnnotations = false, onEvent, client }: OpenServerOptions,
  host: Host,
): Promise<McpTools> {
  const options: McpToolsOptions = {
    name,
    ...('url' in start
      ? { url: start.url, headers: readHeaders(start.headers, host) }
      : {
          command: start.command,
          args: start.args,
          env: toServerEnvironment(start.environment, host),
          cwd: host.directory,
        }),
    inputs: 'declared',
    // The user of the client answers its questions.
    elicit: 'client',
    ...(client === undefined ? {} : { asks: client.asks }),
    // The policies decide, as they do for a coding agent.
    dangerous: false,
    ...(trustAnnotations ? { trust: 'annotations' } : {}),
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(pins === undefined ? {} : { pins }),
  };
  return mcpTools(options);
}
