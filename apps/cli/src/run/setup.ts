import { dirname, resolve } from 'node:path';
import {
  type FactsSource,
  type Filesystem,
  type FilesystemReader,
  HoldfastError,
  isHoldfastError,
  type Model,
  type Policy,
  type Prompt,
  type Slice,
  type StagedResource,
  type Tool,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { selfRunningFiles } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { formatCount } from '@holdfast/orchestrator/text';
import { requireApproval } from '@holdfast/policy';
import type { RegisteredPack } from '@holdfast/registry/internal';
import { type ModelSurroundings, type OpenedModel, openModel } from '../models/open.ts';
import { checkListedNames, type Equipment, reportProblems } from '../settings/equipment.ts';
import { findModelName, type Settings } from '../settings/settings.ts';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { userFolder } from '../user/folder.ts';
import { findProtectedPaths, shortenPath } from '../workspace/folder.ts';
import { defaultFolder } from '../workspace/toolset.ts';
import { createRunFacts } from './facts.ts';
import { createRunPrompt } from './prompt.ts';
import type { RunTerms } from './terms.ts';

/** The setup for calls of a run or plan. */
export interface CallSetup {
  /** The real path. */
  readonly workspace: string;
  readonly tools: readonly Tool[];
  /** Host policies: those of this program, of packs and plugins, and the tool lists. */
  readonly policies: readonly Policy[];
  /** Slices of plugins outside their sections. */
  readonly slices: readonly Slice[];
  /** The workspace files, also in `resources`. */
  readonly files: StagedResource<Filesystem, FilesystemReader>;
  /** By name. Resources of plugins are created on first use. */
  readonly resources: Readonly<Record<string, unknown>>;
  /** The facts about calls in the workspace. */
  readonly facts: FactsSource;
  /** One line about tools and workspace. */
  readonly description: string;
}

/** The setup of a run. Its description begins with the model, which is closed with it. */
export interface RunSetup extends CallSetup, AsyncDisposable {
  readonly model: Model;
  /** A one-line notice about the model. */
  readonly about: string | undefined;
  readonly prompt: Prompt;
}

export interface RunPlaces {
  readonly workspace: string;
  /** The directory from which scripts and provider packages are resolved. */
  readonly modelDirectory: string;
}

/**
 * Creates the prompt and the model of a run, and reports problems.
 *
 * @throws HoldfastError `usage.*`, errors of the model, and of plugin sections.
 */
export async function setUpRun(
  equipment: Equipment,
  terms: Pick<RunTerms, 'model' | 'allow' | 'order'>,
  { workspace, modelDirectory }: RunPlaces,
  host: Host,
): Promise<RunSetup> {
  const setup = await setUpCalls(equipment, terms, workspace, host);
  const prompt = createRunPrompt(equipment.registry);
  // Loaded last, because a model may take long.
  const opened = await openNamedModel(terms.model, equipment, { ...host, directory: modelDirectory });
  const { model, about } = opened;
  const description = `${toPrintable(model.id)} · ${setup.description}`;
  return { ...setup, model, about, prompt, description, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/**
 * Sets up calls, and reports problems.
 *
 * @throws HoldfastError `usage.invalid` (`tool_unknown`, `tools_around_workspace`).
 */
export async function setUpCalls(
  equipment: Equipment,
  terms: Pick<RunTerms, 'allow' | 'order'>,
  workspace: string,
  host: Host,
): Promise<CallSetup> {
  const { registry, toolset, policies, imported, settings } = equipment;
  const protectedPaths = await findProtectedPaths(workspace, {
    toolsFolder: toolset.folder.path,
    imported,
    later: listLater(settings, host),
  });
  // Reported first: a tool that is unknown below may have been refused.
  reportProblems(equipment, host);
  const { tools, slices } = registry;
  checkNames('--allow', terms.allow, tools);
  checkNames('--order', terms.order.flat(), tools);
  checkListedNames(equipment);
  const place = shortenPath(workspace, host.directory);
  const files = hostFilesystem(workspace, { protectedPaths });
  return {
    workspace,
    tools,
    policies: [...programPolicies(), ...policies],
    slices,
    files,
    resources: { filesystem: files },
    facts: createRunFacts(workspace),
    description: toPrintable(`${describeTools(equipment)} · in ${place}`),
  };
}

/** In force in every run. */
function programPolicies(): readonly Policy[] {
  const reason = 'It deletes a workspace file.';
  return [selfRunningFiles(), requireApproval({ id: 'delete-file', tools: ['delete_file'], reason })];
}

/**
 * Paths that a later run would use, existing or not: the user folder, packages of plugins and models, and the default tools folder
 * unless the configuration names another.
 */
function listLater({ effective: { tools }, file, directory }: Settings, host: Host): readonly string[] {
  const isNamed = tools !== undefined && tools.origin.layer === 'host';
  const places = [directory, ...(file === null ? [] : [dirname(resolve(directory, file))])];
  return [
    ...(isNamed ? [] : [resolve(directory, defaultFolder)]),
    ...places.map((place) => resolve(place, 'node_modules')),
    userFolder(host),
  ];
}

/** Adds the configuration file to the error if the name comes from one. @throws HoldfastError as `openModel`. */
export async function openNamedModel(
  name: string,
  { settings, registry: { models } }: Equipment,
  surroundings: Omit<ModelSurroundings, 'models'>,
): Promise<OpenedModel> {
  try {
    return await openModel(name, { ...surroundings, models });
  } catch (thrown) {
    const { file } = settings.effective.model.origin;
    if (!isHoldfastError(thrown) || file === undefined || findModelName(settings) !== name) throw thrown;
    throw new HoldfastError(thrown.code, thrown.message, {
      data: {
        ...(isPlainObject(thrown.data) ? thrown.data : {}),
        model: name,
        hint: `it is set as \`model\` in ${file}.`,
      },
      cause: thrown,
    });
  }
}

function describeTools({ toolset, used, registry: { packsInForce } }: Equipment): string {
  const { folder, folderTools, fileTools, isLocked } = toolset;
  const parts = [
    folder.path === undefined
      ? `${formatCount(fileTools.length, 'file tool')} (no tools folder \`${folder.name}\`)`
      : `${formatCount(fileTools.length, 'file tool')}, ${formatCount(folderTools.length, 'tool')} from ${folder.name}${isLocked ? ', locked' : ''}`,
    ...(used.plugins.length === 0
      ? []
      : [`plugins: ${used.plugins.map(({ name, version }) => `${name} ${version}`).join(', ')}`]),
    ...(packsInForce.length === 0 ? [] : [`guards: ${packsInForce.map(describePack).join(', ')}`]),
  ];
  return parts.join(' · ');
}

/** `shell-guard (strict)`, with a note if its policies are only observed. */
export function describePack({ id, preset, observe }: RegisteredPack): string {
  return `${id} (${preset}${observe ? ', observe only' : ''})`;
}

function checkNames(option: string, names: readonly string[], tools: readonly Tool[]): void {
  const known = new Set(tools.map(({ name }) => name));
  for (const name of names) {
    if (known.has(name)) continue;
    throw usageError(
      'tool_unknown',
      `Unknown tool \`${name}\` for \`${option}\`. Known tools: ${[...known].join(', ')}.`,
    );
  }
}
