import type { McpEvent, McpPins, McpTools, McpToolsOptions } from '@holdfast/mcp';
import type { Host } from '../terminal/host.ts';
import type { McpPackage } from './load.ts';
import type { ServerEntry } from './pins.ts';

export interface OpenServerOptions {
  readonly pins?: McpPins | undefined;
  readonly trustAnnotations?: boolean;
  readonly onEvent?: (event: McpEvent) => void;
}

/** Starts a server as its client would: in the same folder, with the same environment. */
export function openServer(
  { name, command, args }: ServerEntry,
  { mcpTools }: Pick<McpPackage, 'mcpTools'>,
  { pins, trustAnnotations = false, onEvent }: OpenServerOptions,
  host: Host,
): Promise<McpTools> {
  const options: McpToolsOptions = {
    name,
    command,
    args,
    env: toEnvironment(host.environment),
    cwd: host.directory,
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

/** The client has set the variables of the server for this process. */
function toEnvironment(environment: Host['environment']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
