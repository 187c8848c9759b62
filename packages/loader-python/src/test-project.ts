import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ToolContext } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import * as loader from '@holdfast/loader';
import { type FolderScan, scanFolder as scan } from '@holdfast/loader/internal';
import type { Language } from '@holdfast/loader/language';
import { python } from './language.ts';

// The loader with the language under test.
function languages(): { readonly languages: readonly Language[] } {
  return { languages: [python()] };
}

export function loadTools(directory: string, options: loader.LoadToolsOptions = {}): Promise<loader.LoadedTools> {
  return loader.loadTools(directory, { ...languages(), ...options });
}

export function watchTools(directory: string, options: loader.WatchToolsOptions = {}): Promise<loader.WatchedTools> {
  return loader.watchTools(directory, { ...languages(), ...options });
}

export function scanFolder(directory: string, options: Parameters<typeof scan>[1] = {}): Promise<FolderScan> {
  return scan(directory, { ...languages(), ...options });
}

export function compareLock(
  directory: string,
  options: Parameters<typeof loader.compareLock>[1],
): Promise<loader.LockComparison> {
  return loader.compareLock(directory, { ...languages(), ...options });
}

/** A project with a tools folder `plugins` and a path for its lock, removed at the end of the block. */
export interface TestProject extends AsyncDisposable {
  /** Absolute, without symlinks. */
  readonly root: string;
  readonly plugins: string;
  readonly lock: string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  link(path: string, target: string): Promise<void>;
  remove(path: string): Promise<void>;
  compare(): Promise<loader.LockComparison>;
  /** Locks the current state. */
  accept(): Promise<void>;
  /** Loads its tools into this process. */
  load(): Promise<loader.LoadedTools>;
}

export async function createProject(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<TestProject> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-loader-')));
  const [plugins, lock] = [join(root, 'plugins'), join(root, 'holdfast.lock')];
  await mkdir(plugins);
  const project: TestProject = {
    root,
    plugins,
    lock,
    async write(path, content) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    },
    async link(path, target) {
      await rm(join(root, path), { recursive: true, force: true });
      await symlink(target, join(root, path));
    },
    remove: (path) => rm(join(root, path), { recursive: true }),
    compare: () => compareLock(plugins, { lock }),
    accept: async () => (await compareLock(plugins, { lock })).accept(),
    load: () => loadTools(plugins, { lock, isolation: 'in-process' }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
  for (const [path, content] of Object.entries(files)) await project.write(path, content);
  return project;
}

/** A tool file whose function `work` has `body`, with `code` above it. */
export function toolFile(
  name: string,
  {
    body = 'return 1;',
    code = '',
    more = '',
  }: { readonly body?: string; readonly code?: string; readonly more?: string } = {},
): string {
  return `${code}
export const METADATA = {
  name: '${name}', function: 'work', description: 'Works.', dangerous: false, ${more}
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
};
export async function work(input) { ${body} }
`;
}

/** Codes with their files. */
export function codesOf({ diagnostics }: Pick<loader.LoadedTools, 'diagnostics'>): readonly string[] {
  return diagnostics.map((one) => `${one.file} ${describeCode(one)}`);
}

export interface TestContext extends ToolContext {
  abort(reason?: unknown): void;
}

/** The context members that programs use. */
export function testContext({
  remainingMs = Number.POSITIVE_INFINITY,
}: {
  readonly remainingMs?: number;
} = {}): TestContext {
  const controller = new AbortController();
  const context = {
    callId: 'call-1',
    idempotencyKey: 'key-1',
    signal: controller.signal,
    deadline: { atMs: Date.now() + remainingMs, remainingMs: () => remainingMs },
    begin: async () => undefined,
    abort: (reason?: unknown) => controller.abort(reason),
  };
  // Runners use no other members.
  return context as unknown as TestContext;
}

/** Polls until `seen` returns true, yielding the processor in between. */
export async function until(seen: () => boolean): Promise<void> {
  while (!seen()) await new Promise((resolve) => void setTimeout(resolve, 1));
}
