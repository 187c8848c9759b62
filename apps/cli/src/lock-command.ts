import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ComparedTool, compareLock, formatDiagnostic, type LockComparison } from '@holdfast/loader';
import { createColors } from './colors.ts';
import { type ExitCode, usageError } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { countStates, formatChanges, formatComparison, type ShownChange, showChanges } from './lock-view.ts';
import { toPrintable } from './terminal-text.ts';
import { lockName, requireToolsFolder } from './toolset.ts';
import { shortenPath } from './workspace.ts';

export interface LockOptions {
  /** Absent: the default folder. */
  readonly tools: string | undefined;
  /** Reads the folders in it, too. */
  readonly subfolders: boolean;
  /** Writes nothing. */
  readonly check: boolean;
  /** The tools to lock; none: all of them. */
  readonly accept: readonly string[];
  readonly json: boolean;
}

/**
 * Locks the tools of a folder as they are, or some of them, or says what differs from the lock; 1 when a file is refused and, where
 * nothing is written, when anything differs. Of tools that were chosen all that differs is shown, and the others do not matter.
 *
 * @throws HoldfastError `usage.folder_missing`, `usage.tool_unknown`, `tools.lock.*`.
 */
export async function lockFolder(
  { tools, subfolders, check, accept, json }: LockOptions,
  host: Host,
): Promise<ExitCode> {
  const folder = await requireToolsFolder(tools, host.directory);
  // Beside the folder itself, wherever a link to it lies.
  const comparison = await compareLock(folder.path, {
    lock: join(dirname(await realpath(folder.path)), lockName),
    subfolders,
  });
  const path = shortenPath(comparison.lock, host.directory);
  const chosen = accept.map((name) => findTool(name, comparison));
  const shown = await Promise.all(chosen.map(async (tool) => ({ tool, changes: await showChanges(tool, comparison) })));
  if (!check) await comparison.accept(accept.length === 0 ? undefined : accept);

  const subjects = accept.length === 0 ? comparison.tools : chosen;
  const isRefused =
    subjects.some(({ state }) => state === 'refused') ||
    (accept.length === 0 && comparison.diagnostics.some(({ severity }) => severity === 'error'));
  const ok = !isRefused && (!check || (comparison.found && subjects.every(({ state }) => state === 'same')));
  if (json) {
    host.stdout.write(`${toJsonText({ ...describe(comparison, { path, shown }), written: !check, ok }, 2)}\n`);
    return ok ? 0 : 1;
  }
  for (const diagnostic of isRefused || accept.length === 0 ? comparison.diagnostics : [])
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: folder.name })}\n`);
  const colors = createColors(describeTerminal(host.stdout, host.environment).color);
  const lines =
    accept.length === 0
      ? formatComparison(comparison.tools, colors)
      : shown.flatMap(({ tool, changes }) => formatChanges(tool, changes, colors));
  const state = check ? (comparison.found ? '' : 'there is no ') : 'wrote ';
  const counts = countStates(subjects, check ? 'as locked' : 'as before', accept.length === 0 ? 'tool' : 'named tool');
  const end = `${state}${toPrintable(path)}, ${counts}`;
  host.stdout.write(`${[...lines, (ok ? colors.green : colors.red)(end)].join('\n')}\n`);
  return ok ? 0 : 1;
}

function findTool(name: string, { tools }: LockComparison): ComparedTool {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  throw usageError(
    'usage.tool_unknown',
    `\`--accept\` names \`${name}\`, which is neither a good tool of the folder nor locked. There are: ${tools.map((one) => one.name).join(', ')}.`,
  );
}

interface Shown {
  readonly tool: ComparedTool;
  readonly changes: readonly ShownChange[];
}

function describe(
  { found, tools, diagnostics }: LockComparison,
  { path, shown }: { readonly path: string; readonly shown: readonly Shown[] },
): object {
  return {
    lock: path,
    found,
    tools: tools.map((tool) => ({
      ...tool,
      changes:
        shown.find((one) => one.tool.name === tool.name)?.changes ??
        tool.changes.map((change) => ({ ...change, patch: null })),
    })),
    diagnostics,
  };
}
