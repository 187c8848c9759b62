import type { Model, Prompt, Tool } from '@holdfast/core';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { formatDiagnostic } from '@holdfast/loader';
import { formatCount } from './call-line.ts';
import { usageError } from './failure.ts';
import type { Host } from './host.ts';
import { openModel } from './models.ts';
import { createRunPrompt } from './run-prompt.ts';
import type { RunTerms } from './run-terms.ts';
import { toPrintable, toPrintableBlock } from './terminal-text.ts';
import { openToolset, type Toolset, type ToolsFolder } from './toolset.ts';
import { findProtectedPaths, shortenPath } from './workspace.ts';

/** What a run works with. */
export interface RunSetup {
  /** Its real path. */
  readonly workspace: string;
  readonly model: Model;
  readonly prompt: Prompt;
  readonly tools: readonly Tool[];
  readonly filesystem: unknown;
  /** Whether a lock says which tools of the folder may run. */
  readonly isLocked: boolean;
  /** Model, tools and place, on one line. */
  readonly description: string;
  /** Ends the processes in which tools of the folder run. */
  close(): Promise<void>;
}

export interface RunPlaces {
  readonly workspace: string;
  readonly folder: ToolsFolder;
  /** Where the path of a script and the package of a provider are looked for. */
  readonly modelDirectory: string;
}

/**
 * Opens tools, model and files of a run, and reports tool files that are left out.
 *
 * @throws HoldfastError `usage.*`, and what the model throws.
 */
export async function setUpRun(
  terms: Pick<RunTerms, 'model' | 'subfolders' | 'locked' | 'isolation' | 'allow' | 'order'>,
  { workspace, folder, modelDirectory }: RunPlaces,
  host: Host,
): Promise<RunSetup> {
  const protectedPaths = await findProtectedPaths(workspace, folder.path);
  const toolset = await openToolset(folder, {
    subfolders: terms.subfolders === true,
    lock: terms.locked === true ? 'require' : 'use',
    ...(terms.isolation === undefined ? {} : { isolation: terms.isolation }),
    print: (text) => host.stderr.write(toPrintableBlock(text)),
  });
  // First of all: a tool that is missed below may have been refused.
  for (const diagnostic of toolset.diagnostics) {
    host.stderr.write(`${formatDiagnostic(diagnostic, { folder: folder.name })}\n`);
  }
  const tools = [...toolset.fileTools, ...toolset.folderTools];
  checkNames('--allow', terms.allow, tools);
  checkNames('--order', terms.order.flat(), tools);
  const model = await openModel(terms.model, { ...host, directory: modelDirectory });
  const prompt = createRunPrompt(toolset);
  const place = shortenPath(workspace, host.directory);
  return {
    workspace,
    model,
    prompt,
    tools,
    filesystem: hostFilesystem(workspace, { protectedPaths }),
    isLocked: toolset.isLocked,
    description: toPrintable(`${model.id} · ${describeTools(toolset)} · in ${place}`),
    close: toolset.close,
  };
}

function describeTools({ folder, folderTools, fileTools, isLocked }: Toolset): string {
  return folder.path === undefined
    ? `${formatCount(fileTools.length, 'file tool')} (no tools folder \`${folder.name}\`)`
    : `${formatCount(fileTools.length, 'file tool')}, ${formatCount(folderTools.length, 'tool')} from ${folder.name}${isLocked ? ', locked' : ''}`;
}

function checkNames(option: string, names: readonly string[], tools: readonly Tool[]): void {
  const known = new Set(tools.map(({ name }) => name));
  for (const name of names) {
    if (known.has(name)) continue;
    throw usageError(
      'usage.tool_unknown',
      `\`${option}\` names \`${name}\`, which is no tool of this run. There are: ${[...known].join(', ')}.`,
    );
  }
}
