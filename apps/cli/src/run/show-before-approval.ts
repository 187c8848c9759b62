import { confirm } from '@clack/prompts';
import type { PendingApproval } from '@holdfast/core';
import { formatCount } from '../calls/line.ts';
import type { CallPreview } from '../calls/preview.ts';
import { describeQuestion } from '../calls/question.ts';
import { createColors } from '../terminal/colors.ts';
import { describeTerminal, findQuestionStream, type Host } from '../terminal/host.ts';
import { countRows } from './ask-person.ts';

/** A call that is about to be approved. */
export type ShownCall = PendingApproval & CallPreview;

/**
 * Shows calls whole before they are approved. At a terminal, calls that do not fit on the screen are asked about: the command was
 * typed before they could be seen. False: the person says no.
 *
 * With `json` the calls are shown only where there is somebody to ask: the printed JSON has all of them.
 */
export async function showBeforeApproval(
  calls: readonly ShownCall[],
  { json }: { readonly json: boolean },
  host: Host,
): Promise<boolean> {
  const terminal = findQuestionStream(host, { stdin: false, stdout: json });
  const output = terminal ?? (json ? undefined : host.stdout);
  if (output === undefined) return true;
  const { color, columns } = describeTerminal(output, host.environment);
  const style = { colors: createColors(color), columns };
  const describe = (call: ShownCall, maxRows: number) => describeQuestion(call, { style, maxRows, more: '' });
  const long = calls.filter((call) => !describe(call, countRows(output)).isWhole);
  const isAsked = terminal !== undefined && long.length > 0;
  if (json && !isAsked) return true;
  for (const call of calls) {
    output.write(`${describe(call, Number.POSITIVE_INFINITY).lines.join('\n')}\n`);
  }
  if (!isAsked) return true;
  const what = calls.length === 1 ? 'it' : `all ${formatCount(calls.length, 'call')}`;
  const answer = await confirm({
    message: `Approve ${what}, as shown above?`,
    initialValue: false,
    input: host.stdin,
    output: terminal,
  });
  return answer === true;
}
