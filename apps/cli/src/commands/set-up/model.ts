import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { type NamedModel, namedModels } from '../../models/catalogue.ts';
import { lockPart } from '../../models/pull.ts';
import {
  isModelName,
  listPulledModels,
  measurePart,
  modelsFolder,
  type PulledModel,
  toModelPath,
  toPartFolder,
} from '../../models/pulled.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatTable } from '../../terminal/table.ts';
import { formatBytes, toPrintable } from '../../terminal/text.ts';

const pullHelp = `
Examples:
  $ holdfast model list
  $ holdfast model pull qwen3-0.6b
  $ holdfast run --model local:qwen3-0.6b "List the files here"
  $ holdfast model pull https://example.com/models/tiny.gguf --sha256 9f86d081884c7d65…
  $ holdfast model pull qwen3-0.6b --json | jq -r .path

Requires node-llama-cpp, which does the download: npm install node-llama-cpp. Run the same command again to continue a partial
download. A model counts as pulled only when it is complete and its SHA-256 matches.
Models are stored in HOLDFAST_MODELS (default: the system's data folder). Ctrl-C keeps a partial download and exits with 130.
Exits with 1 if the download fails, and with 2 if the model is unknown.`;

const listHelp = `
Examples:
  $ holdfast model list
  $ holdfast model list --json | jq -r '.models[] | select(.state == "pulled").name'`;

const removeHelp = `
Examples:
  $ holdfast model remove qwen3-0.6b            also removes a partial download`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .command('pull')
    .description('download a small language model for --model local:NAME')
    .argument('<named>', 'model name from `model list`, or the https URL of a GGUF file')
    .option('--sha256 <hash>', 'expected SHA-256 of a file pulled by URL, in hex')
    .option('--json', 'print the result as JSON, without progress')
    .addHelpText('after', pullHelp)
    .action(async (name: string, { sha256, json }: { readonly sha256?: string; readonly json?: boolean }) => {
      const { pullModel } = await import('../../models/pull.ts');
      end(await pullModel({ model: name, sha256, json: json === true }, host));
    });
  command
    .command('list')
    .description('list available and pulled models')
    .option('--json', 'print JSON')
    .addHelpText('after', listHelp)
    .action(async ({ json }: { readonly json?: boolean }) => {
      end(await listModels({ json: json === true }, host));
    });
  command
    .command('remove')
    .description('remove a pulled model')
    .argument('<named>', 'model name from `model list`')
    .addHelpText('after', removeHelp)
    .action(async (name: string) => {
      end(await removeModel({ name }, host));
    });
}

interface ListedModel {
  readonly name: string;
  /** null for a file pulled by URL. */
  readonly parameters: string | null;
  readonly bytes: number;
  readonly license: string | null;
  readonly state: 'pulled' | 'part' | 'absent';
  /** Bytes downloaded so far. */
  readonly bytesHere: number;
  /** Its path, existing or not. */
  readonly path: string;
  readonly url: string | null;
}

/** Prints the models that can be pulled by name, and those that were pulled by URL. */
export async function listModels(
  { json }: { readonly json: boolean },
  host: Host,
  models: readonly NamedModel[] = namedModels,
): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const pulled = await listPulledModels(folder);
  const listed = [
    ...(await Promise.all(models.map((model) => describeNamed(model, pulled, folder)))),
    ...pulled.filter(({ name }) => models.every((model) => model.name !== name)).map(describeOther),
  ];
  if (json) {
    printJson(host, { folder, models: listed });
    return 0;
  }
  const style = describeStyle(host);
  const [first, ...others] = ['model', 'parameters', 'size', 'license', 'state'].map((title) => ({ title }));
  const head = [{ title: '', ...first, paint: style.colors.bold }, ...others];
  const rows = listed.map((model) => {
    const { name, parameters, bytes, license } = model;
    return [name, parameters ?? '', formatBytes(bytes), license ?? '', describeState(model, host.command)];
  });
  printLines(host, [...formatTable(head, rows, style), '', `Models folder: ${toPrintable(folder)}`]);
  return 0;
}

function describeState({ name, state, bytes, bytesHere }: ListedModel, command: string): string {
  switch (state) {
    case 'pulled':
      return `pulled: --model local:${name}`;
    case 'part':
      return `${Math.floor((bytesHere / bytes) * 100)} % pulled, continue with \`${command} model pull ${name}\``;
    case 'absent':
      return '';
    default:
      return state satisfies never;
  }
}

async function describeNamed(
  { name, parameters, bytes, license, url }: NamedModel,
  pulled: readonly PulledModel[],
  folder: string,
): Promise<ListedModel> {
  const path = toModelPath(name, folder);
  const model = { name, parameters, bytes, license, path, url };
  const there = pulled.find((other) => other.name === name);
  // Another file with the same name, pulled by URL.
  if (there !== undefined && there.bytes !== bytes) return describeOther(there);
  if (there !== undefined) return { ...model, state: 'pulled', bytesHere: bytes };
  const bytesHere = await measurePart(name, folder);
  return bytesHere === undefined
    ? { ...model, state: 'absent', bytesHere: 0 }
    : { ...model, state: 'part', bytesHere: Math.min(bytesHere, bytes) };
}

function describeOther({ name, path, bytes }: PulledModel): ListedModel {
  return { name, parameters: null, bytes, license: null, state: 'pulled', bytesHere: bytes, path, url: null };
}

/**
 * Removes a pulled model or a partial download.
 *
 * @throws HoldfastError `usage.invalid` (`model_unknown`), `download.failed`.
 */
export async function removeModel({ name }: { readonly name: string }, host: Host): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const pulled = (await listPulledModels(folder)).map((model) => model.name);
  const isThere = isModelName(name) && (pulled.includes(name) || (await measurePart(name, folder)) !== undefined);
  if (!isThere) {
    const names = pulled.map((one) => `\`${one}\``);
    throw usageError(
      'model_unknown',
      `Unknown model \`${name}\`.${names.length === 0 ? ' No models are pulled.' : ` Pulled models: ${names.join(', ')}.`}`,
    );
  }
  const part = toPartFolder(name, folder);
  await lockPart(part, folder);
  await rm(toModelPath(name, folder), { force: true });
  await rm(part, { recursive: true });
  host.stdout.write(`Removed ${name}.\n`);
  return 0;
}
