import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mcpTools, toServerPin } from '@holdfast/mcp';
import { Client, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const version = '2026.8.31';
const names = ['filesystem', 'everything', 'memory', 'sequential-thinking'] as const;

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.cache', 'agents', `mcp-servers-${version}`);
const program = join(root, 'apps', 'cli', 'src', 'main.ts');

/** Installs the reference servers into a folder of their own, once. */
export function installServers(): void {
  if (existsSync(join(folder, 'node_modules', '@modelcontextprotocol', 'server-memory'))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const packages = names.map((name) => `@modelcontextprotocol/server-${name}@${version}`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder, stdio: 'inherit' });
}

export type ServerName = (typeof names)[number];

export interface Connected {
  readonly client: Client;
  /** Questions that the user of the client was asked, and agreed to. */
  readonly asked: string[];
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/** The command of a server in `directory`, directly or through the proxy; then it is pinned as a person would have it. */
export async function toCommand(name: ServerName, directory: string, wrapped: boolean): Promise<ServerCommand> {
  const file = join(folder, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
  const home = join(directory, 'home');
  const env = { HOME: home, HOLDFAST_HOME: home, MEMORY_FILE_PATH: join(directory, `memory-${wrapped}.json`) };
  const [command, args] = [process.execPath, [file, ...(name === 'filesystem' ? [directory] : [])]];
  if (!wrapped) return { command, args, env };
  const elicit = () => ({ action: 'decline' }) as const;
  const environment = ['MEMORY_FILE_PATH'];
  await using seen = await mcpTools({ name: 'ref', command, args, env, cwd: directory, stderr: 'ignore', elicit });
  const portable = args.map((word) => (word === directory ? '<workspace>' : word));
  const pin = toServerPin({ command, args: portable, environment }, seen);
  writeFileSync(join(directory, 'holdfast.lock'), JSON.stringify({ mcp: { ref: pin }, tools: {}, version: 1 }));
  const wrap = [program, 'mcp', 'wrap', '--name', 'ref', '--env', 'MEMORY_FILE_PATH', '--'];
  return { command, args: ['--conditions=holdfast-source', ...wrap, command, ...args], env };
}

/** Connects to a server in `directory`, directly or through the proxy. */
export async function connect(name: ServerName, directory: string, wrapped: boolean): Promise<Connected> {
  const { command, args, env } = await toCommand(name, directory, wrapped);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: 'legacy' },
      // A server may list other tools where its client cannot be asked; the proxy declares what its client does.
      capabilities: { elicitation: { form: {}, url: {} } },
    },
  );
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { approve: true } };
  });
  await client.connect(new StdioClientTransport({ command, args: [...args], env, cwd: directory, stderr: 'ignore' }));
  return { client, asked };
}

const untouched: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Record<string, unknown> }) },
};

/** The answer as it came over the wire. */
export async function request(client: Client, method: string, params: Record<string, unknown> = {}): Promise<string> {
  return JSON.stringify(await client.request({ method, params }, untouched));
}
