import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Connects to a server in `directory`, directly or through the proxy. */
export async function connect(name: ServerName, directory: string, wrapped: boolean): Promise<Connected> {
  const file = join(folder, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
  const server = [process.execPath, file, ...(name === 'filesystem' ? [directory] : [])];
  const wrap = [process.execPath, '--conditions=holdfast-source', program, 'mcp', 'wrap', '--name', 'ref', '--'];
  const [command = '', ...args] = wrapped ? [...wrap, ...server] : server;
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: 'legacy' },
      // The proxy tells a server that its client can be asked; a server may list other tools where it cannot.
      capabilities: { elicitation: { form: {}, url: {} } },
    },
  );
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { approve: true } };
  });
  const home = join(directory, 'home');
  const env = { HOME: home, HOLDFAST_HOME: home, MEMORY_FILE_PATH: join(directory, `memory-${wrapped}.json`) };
  await client.connect(new StdioClientTransport({ command, args, env, cwd: directory, stderr: 'ignore' }));
  return { client, asked };
}

const untouched: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Record<string, unknown> }) },
};

/** The answer as it came over the wire. */
export async function request(client: Client, method: string, params: Record<string, unknown> = {}): Promise<string> {
  return JSON.stringify(await client.request({ method, params }, untouched));
}
