import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { type AnswerFlags, addAnswerOptions, answerCalls } from './answer-calls.ts';

const help = `
Examples:
  $ holdfast approve 20260517-093012345-k3x9 call_1_0
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 call_1_1 --by anna
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --grant       and further calls of the same tool
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --digest 3fa9b2c1

Each call is shown whole before it is answered. At a terminal you are asked once more when it does not fit on the screen; a no answers
nothing and exits with 1. Without a terminal it is printed and answered, so a script should pass the --digest of what was looked at.

The beginning of an id will do where only one call has it. Nothing runs by an answer: \`holdfast resume\` goes on. The answer holds
for this call, these arguments, this tool and these policies; when any of them is another by then, it is asked anew.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addAnswerOptions(
    command.option('--grant', 'let further calls of the same tool pass without asking, for this session'),
  )
    .addHelpText('after', help)
    .action(async (id: string, calls: readonly string[], { grant, json, ...flags }: ApproveFlags) => {
      const answer = { type: 'approve', ...(grant === true ? { grant: true } : {}) } as const;
      end(
        await answerCalls({ by: undefined, digest: undefined, ...flags, id, calls, answer, json: json === true }, host),
      );
    });
}

interface ApproveFlags extends AnswerFlags {
  readonly grant?: boolean;
}
