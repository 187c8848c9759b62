// The reference filesystem server behind `holdfast mcp wrap`, as a transport of the AI SDK's client.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MCPTransport } from '@ai-sdk/mcp';
import { mcpTools, toServerPin } from '@holdfast/mcp';

type Message = Parameters<MCPTransport['send']>[0];

const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));

/** Does the work of a person's `holdfast lock --accept mcp:files`, once they have looked at the server. */
export async function pinServer(folder: string): Promise<void> {
  const command = process.execPath;
  await using seen = await mcpTools({ name: 'files', command, args: [server, folder], stderr: 'ignore' });
  const pin = toServerPin({ command, args: [server, '<workspace>'], environment: [] }, seen);
  await writeFile(join(folder, 'holdfast.lock'), JSON.stringify({ mcp: { files: pin }, tools: {}, version: 1 }));
}

/** The proxy can be killed: the next message starts another one. */
export class ProxiedServer implements MCPTransport {
  readonly supportsProtocolVersionDiscovery = true;
  readonly waitsForProtocolVersionDiscovery = true;
  readonly #folder: string;
  readonly #home: string;
  #child: ChildProcess | undefined;
  onmessage?: (message: Message) => void;
  onclose?: () => void;
  /** How many proxies were started. */
  started = 0;

  constructor(folder: string, home: string) {
    this.#folder = folder;
    this.#home = home;
  }

  async start(): Promise<void> {
    const words = [
      'mcp',
      'wrap',
      '--name',
      'files',
      '--session',
      'agent',
      '--',
      process.execPath,
      server,
      this.#folder,
    ];
    const child = spawn(process.execPath, ['--conditions=holdfast-source', program, ...words], {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], HOME: this.#home, HOLDFAST_HOME: this.#home },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.started += 1;
    createInterface({ input: child.stdout }).on('line', (line) => this.onmessage?.(JSON.parse(line) as Message));
    await once(child, 'spawn');
  }

  async send(message: Message): Promise<void> {
    if (this.#child === undefined) await this.start();
    this.#child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async kill(): Promise<void> {
    await this.#end((child) => child.kill('SIGKILL'));
  }

  async close(): Promise<void> {
    await this.#end((child) => child.stdin?.end());
    this.onclose?.();
  }

  async #end(end: (child: ChildProcess) => void): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    end(child);
    await once(child, 'close');
  }
}
