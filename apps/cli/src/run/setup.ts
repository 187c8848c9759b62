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
import { selfRunningFiles } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { formatCount } from '@holdfast/orchestrator/text';
import { requireApproval } from '@holdfast/policy';
import type { RegisteredPack } from '@holdfast/registry';
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

/** What calls work with, whoever makes them. */
export interface CallSetup {
  /** Its real path. */
  readonly workspace: string;
  readonly tools: readonly Tool[];
  /** Of the host: those of this program, packs, guards of plugins, lists of tools. */
  readonly policies: readonly Policy[];
  /** That plugins bring along beside those of their sections. */
  readonly slices: readonly Slice[];
  /** The files of the workspace, which `resources` have, too. */
  readonly files: StagedResource<Filesystem, FilesystemReader>;
  /** By name. Those of plugins are made when they are asked for. */
  readonly resources: Readonly<Record<string, unknown>>;
  /** What calls would do there. */
  readonly facts: FactsSource;
  /** Tools and place, on one line. */
  readonly description: string;
}

/** What a run works with. Its description begins with the model, which is closed with it. */
export interface RunSetup extends CallSetup, AsyncDisposable {
  readonly model: Model;
  /** What a person should know of the model beforehand, on one line. */
  readonly about: string | undefined;
  readonly prompt: Prompt;
}

export interface RunPlaces {
  readonly workspace: string;
  /** Where the path of a script and the package of a provider are looked for. */
  readonly modelDirectory: string;
}

/**
 * Makes a prompt and a model of what a run is given, and reports what is left out of that.
 *
 * @throws HoldfastError `usage.*`, what the model throws, and what is wrong with the sections of plugins.
 */
export async function setUpRun(
  equipment: Equipment,
  terms: Pick<RunTerms, 'model' | 'allow' | 'order'>,
  { workspace, modelDirectory }: RunPlaces,
  host: Host,
): Promise<RunSetup> {
  const setup = await setUpCalls(equipment, terms, workspace, host);
  const prompt = createRunPrompt(equipment.registry);
  // Last of all: to load a model may take its time.
  const opened = await openNamedModel(terms.model, equipment, { ...host, directory: modelDirectory });
  const { model, about } = opened;
  const description = `${toPrintable(model.id)} · ${setup.description}`;
  return { ...setup, model, about, prompt, description, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/**
 * Makes sure that calls can be made with what there is, and reports what is left out of that.
 *
 * @throws HoldfastError `usage.tool_unknown`, `usage.tools_around_workspace`.
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
  // First of all: a tool that is missed below may have been refused.
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
  const reason = 'It deletes a file of the workspace.';
  return [selfRunningFiles(), requireApproval({ id: 'delete-file', tools: ['delete_file'], reason })];
}

/**
 * What the next run would take, whether it is there or not: what the user's own folder holds, packages of plugins and of models, and
 * the default tools folder, unless the configuration names another.
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

/** Says where the name stands, when it stands in a file and is wrong. @throws HoldfastError as `openModel`. */
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
      data: { model: name, hint: `It is the \`model\` of ${file}.` },
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

/** `shell-guard (strict)`, and whether its policies are only tried out. */
export function describePack({ id, preset, observe }: RegisteredPack): string {
  return `${id} (${preset}${observe ? ', only tried out' : ''})`;
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
