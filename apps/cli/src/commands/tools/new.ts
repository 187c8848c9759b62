import { Argument, type Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { writeNewPackage } from '../../scaffold/write-package.ts';
import { writeNewTool } from '../../scaffold/write-tool.ts';

const help = `
Examples:
  $ holdfast new tool make_slug                 write ./plugins/make_slug.mjs
  $ holdfast new tool make_slug --typescript    write ./plugins/make_slug.mts
  $ holdfast new tool make_slug --tools tools
  $ holdfast new pack @acme/git-safety          write ./git-safety: a policy pack with cases and tests
  $ holdfast new plugin text-tools              write ./text-tools: a plugin with a tool and its test

Existing files are never overwritten.`;

const newKinds = ['tool', 'plugin', 'pack'] as const;
type NewKind = (typeof newKinds)[number];

interface NewFlags {
  readonly tools?: string;
  readonly typescript?: boolean;
  readonly json?: boolean;
}

export function declare(command: Command, { host, version, end }: CommandContext): void {
  command
    .addArgument(new Argument('<kind>', 'what to create').choices(newKinds))
    .argument('<name>', 'tool name, such as make_slug, or package name, such as @acme/git-safety')
    .option('--tools <dir>', 'for a tool: folder of tool files (default: ./plugins)')
    .option('--typescript', 'for a tool: write TypeScript instead of JavaScript (packages are always TypeScript)')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (kind: NewKind, name: string, { tools, typescript, json = false }: NewFlags) => {
      if (kind === 'tool') {
        const language = typescript === true ? 'typescript' : 'javascript';
        return end(await writeNewTool({ name, folder: tools ?? './plugins', language, json }, host));
      }
      // A package gets its own folder, named after it.
      if (tools !== undefined) command.error('error: `--tools` only applies to `new tool`');
      end(await writeNewPackage({ kind, packageName: name, json }, host, version));
    });
}
