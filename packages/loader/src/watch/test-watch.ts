import type { Clock } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { callTool, createProject, type TestProject } from '../test-project.ts';
import { testContext } from '../test-tools.ts';
import {
  type ToolReload,
  type WatchedTools,
  type WatchSeams,
  type WatchToolsOptions,
  watchToolsWith,
} from './tools.ts';

/** A project whose tools folder is watched with simulated events. Closed and removed at the end of the block. */
export interface TestWatch extends AsyncDisposable {
  readonly project: TestProject;
  readonly watched: WatchedTools;
  /** The arguments of all `onReload` calls. */
  readonly reloads: readonly ToolReload[];
  /** The last followed files, relative to the project. */
  readonly followed: readonly string[];
  /** The number of open watchers. */
  readonly open: number;
  /** Signals that something may have changed. */
  changed(): void;
  /** Writes files, removes those with `null`, and reloads. */
  edit(files: Readonly<Record<string, string | null>>): Promise<void>;
  /** The result of each tool, or the code of its error. */
  answers(): Promise<Readonly<Record<string, unknown>>>;
  /** Codes with their files, and severities of warnings. */
  codes(): readonly string[];
}

export interface TestWatchOptions extends Omit<WatchToolsOptions, 'lock'> {
  /** Locks the initial state. Default false. */
  readonly locked?: boolean;
  readonly clock?: Clock;
  readonly seams?: Omit<WatchSeams, 'watchFiles' | 'clock'>;
  /** Simulated reasons why folders cannot be watched. */
  readonly failures?: readonly unknown[];
}

export async function startWatch(
  files: Readonly<Record<string, string>>,
  { locked = false, clock, seams, failures = [], ...options }: TestWatchOptions = {},
): Promise<TestWatch> {
  const project = await createProject(files);
  if (locked) await project.accept();
  const state = { reloads: [] as ToolReload[], followed: [] as string[], open: 0 };
  let changed: (() => void) | undefined;
  const watched = await watchToolsWith(
    project.plugins,
    {
      isolation: 'in-process',
      ...(locked ? { lock: project.lock } : {}),
      onReload: (reload) => state.reloads.push(reload),
      ...options,
    },
    {
      ...(clock === undefined ? {} : { clock }),
      watchFiles: async (_place, listener) => {
        changed = listener;
        state.open += 1;
        return {
          follow: async (paths) => {
            state.followed = [...new Set(paths)].map((path) => path.replace(`${project.root}/`, '')).sort();
            return failures;
          },
          close: () => {
            state.open -= 1;
          },
        };
      },
      ...seams,
    },
  );
  if (changed === undefined) throw new Error('No watcher was created.');
  return {
    project,
    watched,
    changed,
    get reloads() {
      return state.reloads;
    },
    get followed() {
      return state.followed;
    },
    get open() {
      return state.open;
    },
    async edit(changes) {
      for (const [path, content] of Object.entries(changes)) {
        if (content === null) await project.remove(path);
        else await project.write(path, content);
      }
      await watched.reload();
    },
    async answers() {
      const answers: [string, unknown][] = [];
      for (const tool of watched.tools) answers.push([tool.name, await callTool(tool, testContext())]);
      return Object.fromEntries(answers);
    },
    codes: () =>
      watched.diagnostics.map(
        ({ severity, file, ...kind }) => `${file} ${describeCode(kind)}${severity === 'error' ? '' : ' (warning)'}`,
      ),
    async [Symbol.asyncDispose]() {
      await watched.close();
      await project[Symbol.asyncDispose]();
    },
  };
}
