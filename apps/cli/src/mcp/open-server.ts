import type { McpEvent, McpPins, McpTools, McpToolsOptions } from '@holdfast/mcp';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import type { McpPackage } from './load.ts';
import type { ServerEntry } from './pins.ts';

export interface OpenServerOptions {
  readonly pins?: McpPins | undefined;
  readonly trustAnnotations?: boolean;
  readonly onEvent?: (event: McpEvent) => void;
}

/**
 * Starts a server as its client would, in the same folder with the same environment, or connects to one.
 *
 * @throws HoldfastError `usage.invalid` (`header_missing`), and as `mcpTools`.
 */
export async function openServer(
  entry: ServerEntry,
  { mcpTools }: Pick<McpPackage, 'mcpTools'>,
  { pins, trustAnnotations = false, onEvent }: OpenServerOptions,
  host: Host,
): Promise<McpTools> {
  const options: McpToolsOptions = {
    name: entry.name,
    ...('url' in entry
      ? { url: entry.url, headers: readHeaders(entry.headers, host) }
      : { command: entry.command, args: entry.args, env: toEnvironment(host.environment), cwd: host.directory }),
    inputs: 'declared',
    // The user of the client answers its questions.
    elicit: 'client',
    // The policies decide, as they do for a coding agent.
    dangerous: false,
    ...(trustAnnotations ? { trust: 'annotations' } : {}),
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(pins === undefined ? {} : { pins }),
  };
  return mcpTools(options);
}

function readHeaders(names: readonly string[], { environment }: Host): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const value = environment[name];
      if (value !== undefined) return [name, value];
      throw usageError('header_missing', `\`--header ${name}\` needs the header's value in the variable \`${name}\`.`);
    }),
  );
}

/** The client has set the variables of the server for this process. */
function toEnvironment(environment: Host['environment']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
