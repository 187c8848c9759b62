import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { type AnswerFlags, addAnswerOptions, answerCalls } from './answer-calls.ts';

const help = `
Examples:
  $ holdfast approve 20260517-093012345-k3x9 call_1_0
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 call_1_1 --by anna
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --grant       and all further calls of the same tool
  $ holdfast approve 20260517-093012345-k3x9 call_1_0 --digest 3fa9b2c1

Each call is shown in full before it is answered. If it does not fit on the screen of a terminal, you are asked to confirm; answering
no exits with 1. Without a terminal it is printed and answered, so a script should pass the --digest of the reviewed call.

A unique prefix of a call id is enough. Approving runs nothing: \`holdfast resume\` continues the run. The approval holds for this call
with these arguments, this tool and these policies; if any of them has changed by then, you are asked again.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addAnswerOptions(command.option('--grant', 'allow further calls of the same tool in this session'))
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
