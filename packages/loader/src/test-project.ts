import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tool, ToolContext } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { type LoadedTools, loadTools } from './load/tools.ts';
import { compareLock, type LockComparison } from './pins/compare.ts';

/** A project with a tools folder `plugins` and a path for its lock, removed at the end of the block. */
export interface TestProject extends AsyncDisposable {
  /** Absolute, without links. */
  readonly root: string;
  readonly plugins: string;
  readonly lock: string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  link(path: string, target: string): Promise<void>;
  remove(path: string): Promise<void>;
  compare(): Promise<LockComparison>;
  /** Locks the current state. */
  accept(): Promise<void>;
  /** Loads its tools into this process. */
  load(): Promise<LoadedTools>;
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

/** The context members that runners use. */
export const bareContext: ToolContext = {
  callId: 'call-1',
  signal: new AbortController().signal,
  begin: async () => undefined,
} as unknown as ToolContext;

/** The result of a tool, or the code of its error. */
export async function callTool(
  tool: Tool | undefined,
  context: ToolContext = bareContext,
  input: object = {},
): Promise<unknown> {
  try {
    return await tool?.execute?.(input, context);
  } catch (thrown) {
    return `threw ${thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown)}`;
  }
}

/** Codes with their files. */
export function codesOf({ diagnostics }: Pick<LoadedTools, 'diagnostics'>): readonly string[] {
  return diagnostics.map((one) => `${one.file} ${describeCode(one)}`);
}
