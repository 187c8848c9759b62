import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { type AnswerFlags, addAnswerOptions, answerCalls } from './answer-calls.ts';

const help = `
Examples:
  $ holdfast deny 20260517-093012345-k3x9 call_1_0 --reason "Not on a Friday."
  $ holdfast deny 20260517-093012345-k3x9 call_1_0 call_1_1 --by anna

The model is told that the call was denied; the other calls of its message keep their results. Denying runs nothing:
\`holdfast resume\` continues the run.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addAnswerOptions(command.option('--reason <text>', 'reason, for the model and the log'))
    .addHelpText('after', help)
    .action(async (id: string, calls: readonly string[], { reason, json, ...flags }: DenyFlags) => {
      const answer = { type: 'deny', ...(reason === undefined ? {} : { reason }) } as const;
      end(
        await answerCalls({ by: undefined, digest: undefined, ...flags, id, calls, answer, json: json === true }, host),
      );
    });
}

interface DenyFlags extends AnswerFlags {
  readonly reason?: string;
}
