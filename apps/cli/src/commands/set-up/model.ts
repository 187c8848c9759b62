import type { Command } from 'commander';
import type { CommandContext } from '../command.ts';

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
      const { listModels } = await import('./model-list.ts');
      end(await listModels({ json: json === true }, host));
    });
  command
    .command('remove')
    .description('remove a model that was pulled')
    .argument('<named>', 'as `model list` calls it')
    .addHelpText('after', removeHelp)
    .action(async (name: string) => {
      const { removeModel } = await import('./model-remove.ts');
      end(await removeModel({ name }, host));
    });
}
