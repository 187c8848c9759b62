import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Said, startModelServer } from './model-server.ts';

/** The version of the guide's table. */
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

export interface CodexOptions {
  /** Replaces the installed hooks. */
  readonly hooks?: (text: string) => string;
  /** Prepares the home and the workspace before Codex starts. */
  readonly prepare?: (folders: { readonly home: string; readonly workspace: string }) => Promise<void>;
  /** Not installed. */
  readonly unguarded?: boolean;
  /** Leaves the hooks untrusted. */
  readonly untrusted?: boolean;
}

const canary = 'CANARY-7431';

/** Runs Codex once in a home and a workspace of its own, with `holdfast guard install codex`, against a model that plays `script`. */
export async function runCodex(
  script: readonly (readonly Said[])[],
  { hooks, prepare, unguarded = false, untrusted = false }: CodexOptions = {},
): Promise<CodexRun & AsyncDisposable> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-codex-')));
  const [home, workspace] = [join(base, 'home'), join(base, 'work')];
  await mkdir(join(home, '.codex'), { recursive: true });
  await mkdir(workspace);
  execFileSync('git', ['init', '-q', '.'], { cwd: workspace });
  await writeFile(join(workspace, '.env'), `KEY=${canary}\n`);
  await writeFile(join(workspace, 'a.txt'), 'hi\n');
  await using server = await startModelServer(script);
  await writeFile(join(home, '.codex', 'config.toml'), toConfig(server.url));
  if (!unguarded) await install(home, workspace);
  if (hooks !== undefined) {
    const { readFile } = await import('node:fs/promises');
    const path = join(home, '.codex', 'hooks.json');
    await writeFile(path, hooks(await readFile(path, 'utf8')));
  }
  await prepare?.({ home, workspace });
  const words = ['exec', '--json', '--sandbox', 'danger-full-access'];
  if (!untrusted) words.push('--dangerously-bypass-hook-trust');
  const child = spawn(program, [...words, 'Do it.'], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HOME: home, MOCK_KEY: 'none' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 90_000,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const { requests } = server;
  return {
    requests,
    exitCode,
    home,
    workspace,
    stderr,
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
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
`;
}
