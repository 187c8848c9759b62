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

Needs node-llama-cpp, whose downloader it calls: npm install node-llama-cpp. The same command goes on with what was broken off.
Nothing counts as pulled until all of it is there and its SHA-256 is right.
The folder is that of HOLDFAST_MODELS, else the one that your system has for data of programs. Ctrl-C keeps what has come (130).
Exits with 1 when the file could not be had, and with 2 when no model is called so.`;

const listHelp = `
Examples:
  $ holdfast model list
  $ holdfast model list --json | jq -r '.models[] | select(.state == "pulled").name'`;

const removeHelp = `
Examples:
  $ holdfast model remove qwen3-0.6b            the file, or what was pulled of it`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .command('pull')
    .description('download a small language model, to be run with --model local:NAME')
    .argument('<named>', 'name of a model of `model list`, or the https address of a GGUF file')
    .option('--sha256 <hash>', 'what the file at an address has to be, in hex')
    .option('--json', 'no progress; what was pulled, as JSON')
    .addHelpText('after', pullHelp)
    .action(async (name: string, { sha256, json }: { readonly sha256?: string; readonly json?: boolean }) => {
      const { pullModel } = await import('../../models/pull.ts');
      end(await pullModel({ model: name, sha256, json: json === true }, host));
    });
  command
    .command('list')
    .description('list the models that can be pulled by name, and those that are')
    .option('--json', 'as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ json }: { readonly json?: boolean }) => {
      end(await listModels({ json: json === true }, host));
    });
  command
    .command('remove')
    .description('remove a model that was pulled')
    .argument('<named>', 'as `model list` calls it')
    .addHelpText('after', removeHelp)
    .action(async (name: string) => {
      end(await removeModel({ name }, host));
    });
}

interface ListedModel {
  readonly name: string;
  /** null: of a file that was pulled by its address. */
  readonly parameters: string | null;
  readonly bytes: number;
  readonly license: string | null;
  readonly state: 'pulled' | 'part' | 'absent';
  /** How much of it is there. */
  readonly bytesHere: number;
  /** Where it is, or would be. */
  readonly path: string;
  readonly url: string | null;
}

/** Prints the models that can be pulled by name, and those that were pulled by an address. */
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
  const [first, ...others] = ['model', 'parameters', 'size', 'licence', 'state'].map((title) => ({ title }));
  const head = [{ title: '', ...first, paint: style.colors.bold }, ...others];
  const rows = listed.map((model) => {
    const { name, parameters, bytes, license } = model;
    return [name, parameters ?? '', formatBytes(bytes), license ?? '', describeState(model, host.command)];
  });
  printLines(host, [...formatTable(head, rows, style), '', `Pulled models are in ${toPrintable(folder)}`]);
  return 0;
}

function describeState({ name, state, bytes, bytesHere }: ListedModel, command: string): string {
  switch (state) {
    case 'pulled':
      return `pulled: --model local:${name}`;
    case 'part':
      return `${Math.floor((bytesHere / bytes) * 100)} % pulled: \`${command} model pull ${name}\` goes on`;
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
  // Another file under its name, pulled by an address.
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
 * Removes a pulled model, or what was pulled of it.
 *
 * @throws HoldfastError `usage.model_unknown`, `download.busy`, `download.folder_unusable`.
 */
export async function removeModel({ name }: { readonly name: string }, host: Host): Promise<ExitCode> {
  const folder = modelsFolder(host.environment, { directory: host.directory });
  const pulled = (await listPulledModels(folder)).map((model) => model.name);
  const isThere = isModelName(name) && (pulled.includes(name) || (await measurePart(name, folder)) !== undefined);
  if (!isThere) {
    const names = pulled.map((one) => `\`${one}\``);
    throw usageError(
      'usage.model_unknown',
      `No pulled model is called \`${name}\`.${names.length === 0 ? '' : ` There are ${names.join(', ')}.`}`,
    );
  }
  const part = toPartFolder(name, folder);
  await lockPart(part, folder);
  await rm(toModelPath(name, folder), { force: true });
  await rm(part, { recursive: true });
  host.stdout.write(`${name} is removed.\n`);
  return 0;
}
