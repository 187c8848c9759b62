import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A project outside the workspace. */
export interface Project {
  readonly folder: string;
  /** Names of all installed packages, sorted. */
  readonly installed: readonly string[];
  write(path: string, text: string): Promise<void>;
  /** Runs a program there or in a folder of it, in any way it ends. */
  run(command: string, parameters: readonly string[], place?: string): Promise<Ended>;
  remove(): Promise<void>;
}

export interface Ended {
  readonly status: number | null;
  /** Both streams. */
  readonly output: string;
}

/** Makes an empty project and installs `specifiers` with npm from `registry`, to which it may publish. */
export async function createProject(registry: string, specifiers: readonly string[]): Promise<Project> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-stranger-')));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write('package.json', '{ "name": "stranger", "private": true, "type": "module" }\n');
  await write('.npmrc', toSettings(registry));
  await install(folder, ['--ignore-scripts', ...specifiers]);
  const { packages } = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  return {
    folder,
    installed: Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)),
    write,
    run: (command, parameters, place = '') => runIn(join(folder, place), command, parameters),
    remove: () => rm(folder, { recursive: true }),
  };
}

/** npm's registry settings: one for all packages, open to publishing. */
export function toSettings(registry: string): string {
  return `registry=${registry}/\n//${new URL(registry).host}/:_authToken=anybody\n`;
}

async function install(folder: string, specifiers: readonly string[]): Promise<void> {
  await promisify(execFile)('npm', ['install', '--save-exact', '--no-audit', '--no-fund', ...specifiers], {
    cwd: folder,
    shell: process.platform === 'win32',
  });
}

/** Runs a program in `folder`, in any way it ends. */
export async function runIn(folder: string, command: string, parameters: readonly string[]): Promise<Ended> {
  // An installed program asks the path for Node.js, and finds the one that this runs on.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };
  const child = spawn(command, parameters, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status) => resolve({ status, output }));
  });
}

/** The version that this workspace takes of `name`. */
export async function readCatalogVersion(name: string): Promise<string> {
  const workspace = await readFile(new URL('../../pnpm-workspace.yaml', import.meta.url), 'utf8');
  const version = new RegExp(`^ {2}"?${name}"?: (.+)$`, 'm').exec(workspace)?.[1];
  if (version === undefined) throw new Error(`\`${name}\` is not in the catalog`);
  return version;
}

/** The program of Node.js `version`, installed once for this checkout. */
export async function findNode(version: string): Promise<string> {
  const folder = fileURLToPath(new URL(`../../.cache/node-${version}/`, import.meta.url));
  const program = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  // The package of Node.js fetches the program for this system in a script of its own.
  await install(folder, ['--ignore-scripts=false', `node@${version}`]);
  return program;
}
