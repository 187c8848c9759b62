import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ServerName, toCommand } from './mcp-servers.ts';

const versions = { '@modelcontextprotocol/inspector': '2.12.0', '@openai/agents': '0.20.0', zod: '4.6.7' } as const;
export const inspectorVersion: string = versions['@modelcontextprotocol/inspector'];
export const openaiVersion: string = versions['@openai/agents'];

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.cache', 'agents', 'mcp-clients');

/** Installs the clients into a folder of their own, once. */
export function installClients(): void {
  if (existsSync(join(folder, 'node_modules', '@openai', 'agents'))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages];
  execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
}

// On a busy machine the proxy and its server take their time.
const patient: readonly string[] = ['--connect-timeout', '240000'];

/** The output of the inspector's command line for a server in `directory`, directly or through the proxy. */
export async function inspect(
  name: ServerName,
  directory: string,
  wrapped: boolean,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const { command, args, env } = await toCommand(name, directory, wrapped);
  const config = join(directory, `inspected-${wrapped}.json`);
  writeFileSync(config, JSON.stringify({ mcpServers: { ref: { command, args, env } } }));
  const inspector = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const options = { cwd: directory, env: { ...process.env, HOME: directory, MCP_INSPECTOR_SECRET_STORE: 'memory' } };
  const line = [inspector, '--cli', '--config', config, '--server', 'ref', ...patient, '--cwd', directory, ...words];
  const { stdout } = await promisify(execFile)(process.execPath, line, options);
  return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, unknown>;
}

/** The client of OpenAI Agents, as far as it is used here. */
export interface AgentsServer extends AsyncDisposable {
  listTools(): Promise<readonly { readonly name: string }[]>;
  callToolResult(name: string, input: Record<string, unknown>): Promise<unknown>;
}

interface AgentsPackage {
  readonly MCPServerStdio: new (
    options: object,
  ) => Omit<AgentsServer, keyof AsyncDisposable> & { connect(): Promise<void>; close(): Promise<void> };
}

/** Connects OpenAI Agents to a program. */
export async function connectAgents(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}): Promise<AgentsServer> {
  const entry = pathToFileURL(join(folder, 'node_modules/@openai/agents/dist/index.mjs')).href;
  const { MCPServerStdio } = (await import(entry)) as AgentsPackage;
  const server = new MCPServerStdio({
    name: 'holdfast',
    clientSessionTimeoutSeconds: 120,
    timeout: 120_000,
    ...options,
  });
  await server.connect();
  return {
    listTools: () => server.listTools(),
    callToolResult: (name, input) => server.callToolResult(name, input),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
