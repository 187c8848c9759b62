import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readLog } from '@holdfast/session/jsonl';
import { type Script, startModelServer } from './model-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Folders {
  readonly home: string;
  readonly workspace: string;
}

export interface Started {
  readonly prompt: string;
  /** Continues the session before. */
  readonly resumed: boolean;
  readonly url: string;
  readonly folders: Folders;
}

/** A coding agent that starts from its package. */
export interface TestedAgent {
  /** As `holdfast guard install` names it. */
  readonly name: string;
  readonly package: string;
  /** The version that the guide's table is about. */
  readonly version: string;
  /** Its settings, below the home, that name the model at `url` and the MCP server `files`. */
  settings(url: string): Readonly<Record<string, string>>;
  /** Where `guard install` puts its hooks, below the home. */
  readonly hooks: string;
  /** Program and arguments; the program's file is in the package's `node_modules`. */
  words(start: Started): readonly string[];
  readonly environment?: (start: Started) => Readonly<Record<string, string>>;
  /** Adds our plugin, which lies in a folder: commands to run, and changes of its settings. */
  readonly addPlugin?: (folder: string) => PluginSteps;
}

export interface PluginSteps {
  readonly commands?: readonly (readonly string[])[];
  /** Files below the home, with the change of their text. */
  readonly settings?: Readonly<Record<string, (text: string) => string>>;
}

export interface AgentRun extends Folders, AsyncDisposable {
  /** The agent's requests to its model, in order. */
  readonly requests: readonly string[];
  readonly exitCode: number | null;
  readonly stderr: string;
  /** True if the secret reached the model. */
  readonly leaked: boolean;
}

export interface RunOptions {
  /** Replaces the installed hooks. */
  readonly hooks?: (text: string) => string;
  /** Prepares the home and the workspace before the agent starts. */
  readonly prepare?: (folders: Folders) => Promise<void>;
  readonly prompt?: string;
  /** After the run its session is resumed with a second prompt. */
  readonly resumed?: boolean;
  /** Not installed. */
  readonly unguarded?: boolean;
  /** Guarded by our plugin: alone, or beside the hooks in the settings. */
  readonly plugin?: 'alone' | 'beside';
  /** The flags of `guard install`. */
  readonly flags?: readonly string[];
}

const canary = 'CANARY-7431';

/** The program of the MCP server `files`. */
export const mcpServer: string = join(root, 'tests/agents/mcp-server.ts');

function packageFolder({ name, version }: TestedAgent): string {
  return join(root, '.cache', 'agents', `${name}-${version}`);
}

/** Installs an agent once, into a folder of its own. */
export function installAgent(agent: TestedAgent): void {
  const folder = packageFolder(agent);
  if (existsSync(join(folder, 'node_modules', agent.package))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const words = ['install', '--no-audit', '--no-fund', `${agent.package}@${agent.version}`];
  execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
}

/** Runs an agent once in a home and a workspace of its own, with `holdfast guard install`, against a model that plays `script`. */
export async function runAgent(agent: TestedAgent, script: Script, options: RunOptions = {}): Promise<AgentRun> {
  const base = await realpath(await mkdtemp(join(tmpdir(), `holdfast-${agent.name}-`)));
  const folders = { home: join(base, 'home'), workspace: join(base, 'work') };
  try {
    return { ...(await runIn(folders, agent, script, options)), [Symbol.asyncDispose]: () => remove(base, folders) };
  } catch (thrown) {
    await remove(base, folders);
    throw thrown;
  }
}

async function remove(base: string, { home }: Folders): Promise<void> {
  await endDaemon(home);
  await rm(base, { recursive: true, force: true, maxRetries: 10 });
}

async function runIn(
  folders: Folders,
  agent: TestedAgent,
  script: Script,
  { hooks, prepare, prompt = 'Do it.', resumed = false, unguarded = false, plugin, flags = [] }: RunOptions,
): Promise<Omit<AgentRun, keyof AsyncDisposable>> {
  const { home, workspace } = folders;
  await mkdir(workspace, { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', '.'], { cwd: workspace });
  await writeFile(join(workspace, '.env'), `KEY=${canary}\n`);
  await writeFile(join(workspace, 'a.txt'), 'hi\n');
  await using server = await startModelServer(script);
  const { url, requests, others } = server;
  for (const [path, text] of Object.entries(agent.settings(url))) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  if (!unguarded && plugin !== 'alone') await runHoldfast(['guard', 'install', agent.name, ...flags], folders);
  if (plugin !== undefined) await addPlugin(agent, { prompt, resumed: false, url, folders });
  if (hooks !== undefined) {
    const path = join(home, agent.hooks);
    await writeFile(path, hooks(await readFile(path, 'utf8')));
  }
  await prepare?.(folders);
  let ended = await start(agent, { prompt, resumed: false, url, folders });
  if (resumed) ended = await start(agent, { prompt: 'Go on.', resumed: true, url, folders });
  return {
    ...ended,
    ...folders,
    requests,
    leaked: [...requests, ...others].some((request) => request.includes(canary)),
  };
}

/** Runs the command-line program from its sources. Resolves with what it prints. */
export async function runHoldfast(words: readonly string[], { home, workspace }: Folders): Promise<string> {
  const program = ['--conditions=holdfast-source', join(root, 'apps/cli/src/main.ts')];
  const env = { PATH: process.env['PATH'], HOME: home };
  return (await promisify(execFile)(process.execPath, [...program, ...words], { cwd: workspace, env })).stdout;
}

async function addPlugin(agent: TestedAgent, started: Started): Promise<void> {
  const { home, workspace } = started.folders;
  const folder = join(dirname(home), 'plugins');
  await runHoldfast(['guard', 'plugins', folder], started.folders);
  const { commands = [], settings = {} } = agent.addPlugin?.(folder) ?? {};
  for (const [program = '', ...words] of commands)
    await promisify(execFile)(join(packageFolder(agent), 'node_modules', program), words, {
      cwd: workspace,
      env: toEnvironment(agent, started),
    });
  for (const [path, change] of Object.entries(settings))
    await writeFile(join(home, path), change(await readFile(join(home, path), 'utf8')));
}

function toEnvironment(agent: TestedAgent, started: Started): Readonly<Record<string, string>> {
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  return { PATH: path, HOME: started.folders.home, ...agent.environment?.(started) };
}

/** Runs `holdfast audit` over the transcript that the agent wrote. */
export async function audit(folders: Folders): Promise<unknown> {
  return JSON.parse(await runHoldfast(['audit', '--json'], folders));
}

async function start(agent: TestedAgent, started: Started): Promise<Pick<AgentRun, 'exitCode' | 'stderr'>> {
  const { workspace } = started.folders;
  const [program = '', ...words] = agent.words(started);
  const file = join(packageFolder(agent), 'node_modules', program);
  const env = toEnvironment(agent, started);
  // opencode does not end at SIGTERM.
  const limit = { timeout: 240_000, killSignal: 'SIGKILL' as const };
  const child = spawn(file, words, { cwd: workspace, env, stdio: ['ignore', 'ignore', 'pipe'], ...limit });
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

/** Every call of the guarded session, with its outcome. */
export async function outcomes({ home }: Folders): Promise<readonly string[]> {
  const folder = join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast', 'sessions');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  if (names.length !== 1) throw new Error(`Expected one session, got ${names.length}.`);
  const { records, problem } = readLog(join(folder, names[0] ?? ''));
  if (problem !== undefined) throw new Error(`The log of the session is broken: ${JSON.stringify(problem)}`);
  return records
    .filter(({ type }) => type === 'tool-call-end')
    .map(({ name, outcome }) => `${name as string} ${(outcome as { kind: string }).kind}`);
}
