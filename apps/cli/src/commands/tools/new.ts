import { Argument, type Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { writeNewPackage } from '../../scaffold/write-package.ts';
import { writeNewTool } from '../../scaffold/write-tool.ts';

const help = `
Examples:
  $ holdfast new tool make_slug                 writes ./plugins/make_slug.mjs
  $ holdfast new tool make_slug --typescript    writes ./plugins/make_slug.mts
  $ holdfast new tool make_slug --tools tools
  $ holdfast new pack @acme/git-safety          writes ./git-safety: a pack of policies with its cases and tests
  $ holdfast new plugin text-tools              writes ./text-tools: a plugin with a tool and its test

Nothing is written over what is there.`;

const newKinds = ['tool', 'plugin', 'pack'] as const;
type NewKind = (typeof newKinds)[number];

interface NewFlags {
  readonly tools?: string;
  readonly typescript?: boolean;
  readonly json?: boolean;
}

export function declare(command: Command, { host, version, end }: CommandContext): void {
  command
    .addArgument(new Argument('<kind>', 'what to write').choices(newKinds))
    .argument('<name>', 'name of the tool, such as make_slug, or of the package, such as @acme/git-safety')
    .option('--tools <dir>', 'folder of tool files, for a tool (default: ./plugins)')
    .option('--typescript', 'write TypeScript instead of JavaScript, for a tool; packages are always TypeScript')
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (kind: NewKind, name: string, { tools, typescript, json = false }: NewFlags) => {
      if (kind === 'tool') {
        const language = typescript === true ? 'typescript' : 'javascript';
        return end(await writeNewTool({ name, folder: tools ?? './plugins', language, json }, host));
      }
      // A package has a folder of its own, named after it.
      if (tools !== undefined) command.error('error: `--tools` is for `new tool`');
      end(await writeNewPackage({ kind, packageName: name, json }, host, version));
    });
}
