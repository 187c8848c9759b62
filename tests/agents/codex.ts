import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Script, startModelServer } from './model-server.ts';

/** The version that the guide's table is about. */
export const version = '0.169.0';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.cache', 'agents', `codex-${version}`);
const program = join(folder, 'node_modules', '.bin', 'codex');

/** Installs Codex once, into its own folder. */
export function installCodex(): void {
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `@openai/codex@${version}`], {
    cwd: folder,
    stdio: 'inherit',
  });
}

export interface CodexRun {
  /** The agent's requests to its model, in order. */
  readonly requests: readonly string[];
  readonly exitCode: number | null;
  readonly home: string;
  readonly workspace: string;
  readonly stderr: string;
}

export interface Folders {
  readonly home: string;
  readonly workspace: string;
}

export interface CodexOptions {
  /** Replaces the installed hooks. */
  readonly hooks?: (text: string) => string;
  /** Prepares the home and the workspace before Codex starts. */
  readonly prepare?: (folders: Folders) => Promise<void>;
  /** After the run its session is resumed with a second prompt. */
  readonly resumed?: boolean;
  /** Not installed. */
  readonly unguarded?: boolean;
  /** Leaves the hooks untrusted. */
  readonly untrusted?: boolean;
}

const canary = 'CANARY-7431';

/** Runs Codex once in a home and a workspace of its own, with `holdfast guard install codex`, against a model that plays `script`. */
export async function runCodex(
  script: Script,
  { hooks, prepare, resumed = false, unguarded = false, untrusted = false }: CodexOptions = {},
): Promise<CodexRun & AsyncDisposable> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-codex-')));
  const [home, workspace] = [join(base, 'home'), join(base, 'work')];
  await mkdir(join(home, '.codex'), { recursive: true });
  await mkdir(workspace);
  execFileSync('git', ['init', '-q', '-b', 'main', '.'], { cwd: workspace });
  await writeFile(join(workspace, '.env'), `KEY=${canary}\n`);
  await writeFile(join(workspace, 'a.txt'), 'hi\n');
  await using server = await startModelServer(script);
  await writeFile(join(home, '.codex', 'config.toml'), toConfig(server.url));
  if (!unguarded) await install(home, workspace);
  if (hooks !== undefined) {
    const path = join(home, '.codex', 'hooks.json');
    await writeFile(path, hooks(await readFile(path, 'utf8')));
  }
  await prepare?.({ home, workspace });
  const flags = untrusted ? [] : ['--dangerously-bypass-hook-trust'];
  const place = { cwd: workspace, env: { PATH: process.env['PATH'], HOME: home, MOCK_KEY: 'none' } };
  let ended = await start(['exec', '--json', '--sandbox', 'danger-full-access', ...flags, 'Do it.'], place);
  if (resumed) {
    const sandbox = ['-c', 'sandbox_mode="danger-full-access"'];
    ended = await start(['exec', 'resume', '--last', '--json', ...sandbox, ...flags, 'Go on.'], place);
  }
  const { requests } = server;
  return {
    ...ended,
    requests,
    home,
    workspace,
    async [Symbol.asyncDispose]() {
      await endDaemon(home);
      await rm(base, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function start(
  words: readonly string[],
  place: { readonly cwd: string; readonly env: Record<string, string | undefined> },
): Promise<Pick<CodexRun, 'exitCode' | 'stderr'>> {
  const child = spawn(program, words, { ...place, stdio: ['ignore', 'ignore', 'pipe'], timeout: 90_000 });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { exitCode, stderr };
}

/** Ends the daemon that the hooks have started, if they could. */
async function endDaemon(home: string): Promise<void> {
  const path = join(home, '.local', 'state', 'holdfast', 'guard', 'daemon', 'daemon.json');
  if (!existsSync(path)) return;
  const { pid } = JSON.parse(await readFile(path, 'utf8')) as { readonly pid: number };
  process.kill(pid);
}

/** True if the secret reached the model. */
export function leaked({ requests }: Pick<CodexRun, 'requests'>): boolean {
  return requests.some((request) => request.includes(canary));
}

async function install(home: string, workspace: string): Promise<void> {
  const words = ['--conditions=holdfast-source', join(root, 'apps/cli/src/main.ts'), 'guard', 'install', 'codex'];
  await promisify(execFile)(process.execPath, words, {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HOME: home },
  });
}

function toConfig(url: string): string {
  return `model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.files]
command = "${process.execPath}"
args = ["${join(root, 'tests/agents/mcp-server.ts')}"]
`;
}
