import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isPlainObject } from '@holdfast/core/internal';
import type { McpServerPin, McpStart } from '@holdfast/mcp';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toServerEnvironment } from './environment.ts';

export type PinnedPackage = NonNullable<McpServerPin['package']>;

/** A package that a package manager fetches and starts. */
export interface StartedPackage {
  readonly manager: 'npx' | 'npm' | 'uv';
  /** The place among the arguments of its word, and what stands before it in that word. */
  readonly at: number;
  readonly prefix: string;
  readonly name: string;
  /** A version, a range or a tag behind the name. */
  readonly wanted: string | undefined;
  /** True if that is one version. */
  readonly isExact: boolean;
}

type Manager = StartedPackage['manager'];

/** By the program and the words behind it that start a package. */
const starters: readonly (readonly [manager: Manager, ...words: string[]])[] = [
  ['npx', 'npx'],
  ['npx', 'npm', 'exec'],
  ['npx', 'npm', 'x'],
  ['npm', 'pnpx'],
  ['npm', 'pnpm', 'dlx'],
  ['npm', 'yarn', 'dlx'],
  ['npm', 'bunx'],
  ['npm', 'bun', 'x'],
  ['uv', 'uvx'],
  ['uv', 'uv', 'tool', 'run'],
  ['uv', 'pipx', 'run'],
];

const packageFlags: Readonly<Record<Manager, readonly string[]>> = {
  npx: ['--package', '-p'],
  npm: ['--package', '-p'],
  uv: ['--from', '--spec'],
};

/** The package that the start of a server fetches. `undefined`: none, or one of this disk. */
export function findPackage(start: McpStart): StartedPackage | undefined {
  if ('url' in start) return undefined;
  const program = basename(start.command).replace(/\.(?:cmd|exe)$/, '');
  const { args } = start;
  const [manager, , ...behind] =
    starters.find(([, name, ...words]) => name === program && words.every((word, index) => args[index] === word)) ?? [];
  if (manager === undefined) return undefined;
  const word = findWord(args, behind.length, packageFlags[manager]);
  if (word === undefined || /^(?:\.{1,2}$|\.{0,2}[/\\]|~\/)/.test(word.text)) return undefined;
  const { at, prefix, text } = word;
  const spelled = manager === 'uv' ? /^([^=@]+)(?:==|@)(.+)$/ : /^((?:@[^@/]+\/)?[^@/]+)@(.+)$/;
  const [, name = text, wanted] = spelled.exec(text) ?? [];
  const exact = manager === 'uv' ? /^\d[\w.!+]*$/ : /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
  return { manager, at, prefix, name, wanted, isExact: wanted !== undefined && exact.test(wanted) };
}

interface Word {
  readonly at: number;
  readonly prefix: string;
  readonly text: string;
}

/** A flag that has a value of its own hides the package: its value is then no version, and refused. */
function findWord(args: readonly string[], from: number, flags: readonly string[]): Word | undefined {
  for (let at = from; at < args.length; at += 1) {
    const [flag = '', value] = (args[at] ?? '').split(/=(.*)/s);
    if (!flags.includes(flag)) continue;
    if (value !== undefined) return { at, prefix: `${flag}=`, text: value };
    const text = args[at + 1];
    return text === undefined ? undefined : { at: at + 1, prefix: '', text };
  }
  const at = args.findIndex((word, index) => index >= from && !word.startsWith('-'));
  const text = args[at];
  return text === undefined ? undefined : { at, prefix: '', text };
}

/**
 * The package that a start means now, by the package manager's registry.
 *
 * @throws HoldfastError `usage.invalid` (`version_missing`): it names no version, and none was found.
 */
export async function resolvePackage(start: McpStart, host: Host): Promise<PinnedPackage | undefined> {
  const found = findPackage(start);
  if (found === undefined) return undefined;
  const { name, wanted, isExact, manager } = found;
  const published = manager === 'uv' ? undefined : await findPublished(`${name}@${wanted ?? 'latest'}`, host);
  if (published !== undefined) return published;
  if (isExact && wanted !== undefined) return { name, version: wanted };
  throw usageError(
    'version_missing',
    `\`${name}\` would be another program tomorrow: name its version, as in \`${name}${manager === 'uv' ? '==' : '@'}1.2.3\`.`,
  );
}

async function findPublished(spec: string, { directory, environment }: Host): Promise<PinnedPackage | undefined> {
  const words = ['view', '--json', '--', spec, 'name', 'version', 'dist.integrity'];
  try {
    const { stdout } = await promisify(execFile)('npm', words, { cwd: directory, env: environment, timeout: 60_000 });
    const parsed: unknown = JSON.parse(stdout);
    // One for each version in a range.
    const last: unknown = Array.isArray(parsed) ? parsed.at(-1) : parsed;
    if (!isPlainObject(last)) return undefined;
    const { name, version, 'dist.integrity': integrity } = last;
    if (typeof name !== 'string' || typeof version !== 'string') return undefined;
    return { name, version, ...(typeof integrity === 'string' ? { integrity } : {}) };
  } catch {
    // Without npm, or a registry that answers, the version in the command is all that is known; the pin says so.
    return undefined;
  }
}

/** The start of the pinned version of its package. */
export function startPinned(start: McpStart, locked: PinnedPackage | undefined): McpStart {
  const found = findPackage(start);
  if (found === undefined || locked === undefined || found.isExact || 'url' in start) return start;
  const word = `${found.prefix}${locked.name}@${locked.version}`;
  return { ...start, args: start.args.map((one, index) => (index === found.at ? word : one)) };
}

/** The integrity of the package that `npx` starts, as npm recorded it; `undefined`: it cannot be told. */
export function findInstalled(start: McpStart, { name, version }: PinnedPackage, host: Host): string | undefined {
  const found = findPackage(start);
  if (found?.manager !== 'npx') return undefined;
  const environment = 'url' in start ? {} : toServerEnvironment(start.environment, host);
  const cache = environment['npm_config_cache'] ?? findCache(environment);
  const digest = createHash('sha512').update(`${found.name}@${found.wanted}`).digest('hex').slice(0, 16);
  const places = [...listFoldersAround(host.directory), join(cache, '_npx', digest)];
  for (const folder of places) {
    const installed = readInstalled(folder, name);
    if (installed?.['version'] === version) {
      const { integrity } = installed;
      return typeof integrity === 'string' ? integrity : undefined;
    }
  }
  return undefined;
}

function findCache({ HOME: home = '', LOCALAPPDATA: local }: Readonly<Record<string, string>>): string {
  return process.platform === 'win32' ? join(local ?? '', 'npm-cache') : join(home, '.npm');
}

function listFoldersAround(folder: string): readonly string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...listFoldersAround(dirname(folder))];
}

function readInstalled(folder: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { readonly packages?: unknown };
    const key = `node_modules/${name}`;
    const found = isPlainObject(packages) && Object.hasOwn(packages, key) ? packages[key] : undefined;
    return isPlainObject(found) ? found : undefined;
  } catch {
    // npm has installed nothing there.
    return undefined;
  }
}
