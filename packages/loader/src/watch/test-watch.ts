import type { Clock } from '@holdfast/core';
import { callTool, createProject, type TestProject } from '../test-project.ts';
import { testContext } from '../test-tools.ts';
import {
  type ToolReload,
  type WatchedTools,
  type WatchSeams,
  type WatchToolsOptions,
  watchToolsWith,
} from './tools.ts';

/** A project whose tools folder is watched, by events that the test makes. Closed and removed at the end of the block. */
export interface TestWatch extends AsyncDisposable {
  readonly project: TestProject;
  readonly watched: WatchedTools;
  /** What `onReload` was told. */
  readonly reloads: readonly ToolReload[];
  /** The files that were to be watched last, relative to the project. */
  readonly followed: readonly string[];
  /** How many watchers are open. */
  readonly open: number;
  /** Tells that something may have changed. */
  changed(): void;
  /** Writes files, removes those with `null`, and reloads. */
  edit(files: Readonly<Record<string, string | null>>): Promise<void>;
  /** What each tool answers, or the code of what it throws. */
  answers(): Promise<Readonly<Record<string, unknown>>>;
  /** Codes with their files, and severities where they are warnings. */
  codes(): readonly string[];
}

export interface TestWatchOptions extends Omit<WatchToolsOptions, 'lock'> {
  /** Locks everything as it is at first. Default false. */
  readonly locked?: boolean;
  readonly clock?: Clock;
  readonly seams?: Omit<WatchSeams, 'watchFiles' | 'clock'>;
  /** What cannot be watched. */
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
  if (changed === undefined) throw new Error('Nobody has watched.');
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
        ({ severity, code, file }) => `${file} ${code}${severity === 'error' ? '' : ' (warning)'}`,
      ),
    async [Symbol.asyncDispose]() {
      await watched.close();
      await project[Symbol.asyncDispose]();
    },
  };
}
