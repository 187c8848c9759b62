import { Argument, type Command } from 'commander';
import { newKinds } from './command-tree.ts';
import type { ExitCode } from './failure.ts';
import { newHelp } from './help-texts.ts';
import type { Host } from './host.ts';
import { writeNewTool } from './new-tool-command.ts';

interface NewFlags {
  readonly tools: string;
  readonly typescript?: boolean;
  readonly json?: boolean;
}

export function addNewCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program
    .command('new')
    .description('write a tool file to begin with, that passes `check --strict` and `try` as it is')
    .addArgument(new Argument('<kind>', 'what to write').choices(newKinds))
    .argument('<name>', 'name of the tool, such as make_slug')
    .option('--tools <dir>', 'folder of tool files', './plugins')
    .option('--typescript', 'write TypeScript instead of JavaScript')
    .option('--json', 'as JSON')
    .addHelpText('after', newHelp)
    .action(async (_kind: string, name: string, { tools, typescript, json }: NewFlags) => {
      const language = typescript === true ? 'typescript' : 'javascript';
      end(await writeNewTool({ name, folder: tools, language, json: json === true }, host));
    });
}
