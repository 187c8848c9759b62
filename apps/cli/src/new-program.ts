import { Argument, type Command } from 'commander';
import { newHelp } from './help-texts.ts';
import type { ExitCode } from './terminal/failure.ts';
import type { Host } from './terminal/host.ts';

const newKinds = ['tool', 'plugin', 'pack'] as const;
type NewKind = (typeof newKinds)[number];

interface NewFlags {
  readonly tools?: string;
  readonly typescript?: boolean;
  readonly json?: boolean;
}

export function addNewCommand(program: Command, host: Host, version: string, end: (code: ExitCode) => void): void {
  const command = program
    .command('new')
    .description('create a tool file, a plugin or a pack that passes its own checks')
    .addArgument(new Argument('<kind>', 'what to write').choices(newKinds))
    .argument('<name>', 'name of the tool, such as make_slug, or of the package, such as @acme/git-safety')
    .option('--tools <dir>', 'folder of tool files, for a tool (default: ./plugins)')
    .option('--typescript', 'write TypeScript instead of JavaScript, for a tool; packages are always TypeScript')
    .option('--json', 'as JSON')
    .addHelpText('after', newHelp)
    .action(async (kind: NewKind, name: string, { tools, typescript, json = false }: NewFlags) => {
      if (kind === 'tool') {
        const language = typescript === true ? 'typescript' : 'javascript';
        const { writeNewTool } = await import('./scaffold/write-tool.ts');
        return end(await writeNewTool({ name, folder: tools ?? './plugins', language, json }, host));
      }
      // A package has a folder of its own, named after it.
      if (tools !== undefined) command.error('error: `--tools` is for `new tool`');
      const { writeNewPackage } = await import('./scaffold/write-package.ts');
      end(await writeNewPackage({ kind, packageName: name, json }, host, version));
    });
}
