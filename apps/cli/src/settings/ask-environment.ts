import type { EnvironmentRequest } from '@holdfast/loader';
import { createColors } from '../terminal/colors.ts';
import { describeTerminal, type Host, type OutputStream } from '../terminal/host.ts';
import { choose } from '../terminal/prompt.ts';
import { padColumns, toPrintable } from '../terminal/text.ts';

export interface AskEnvironmentOptions {
  readonly output: OutputStream;
  isSet(name: string): boolean;
}

/**
 * Asks at the terminal whether a tool may have the environment variables that it declares. Escape is a no.
 *
 * @throws HoldfastError `terminal.interrupted` for Ctrl-C.
 */
export async function askEnvironment(
  request: EnvironmentRequest,
  { output, isSet }: AskEnvironmentOptions,
  host: Pick<Host, 'stdin' | 'environment'>,
): Promise<boolean> {
  const { bold, dim } = createColors(describeTerminal(output, host.environment).color);
  const { tool, file, digest, variables } = request;
  const width = Math.max(...variables.map(({ name }) => name.length));
  const lines = variables.map(({ name, required }) => {
    const state = `${required ? '' : 'optional, '}${isSet(name) ? 'set' : 'not set'}`;
    return `    ${padColumns(name, width)}  ${dim(state)}`;
  });
  output.write(
    [
      '',
      `  ${bold(toPrintable(tool))} (${toPrintable(file)}) asks for environment variables:`,
      ...lines,
      ...(digest === undefined ? [] : [dim(`    sha256 ${digest.slice(0, 16)}`)]),
      '',
    ].join('\n'),
  );
  const answer = await choose({
    message: `May ${toPrintable(tool)} see their values?`,
    options: [
      { value: true, label: digest === undefined ? 'Yes, in this run' : 'Yes, as long as the tool does not change' },
      { value: false, label: 'No' },
    ],
    // Enter alone must not grant anything.
    initialValue: false,
    input: host.stdin,
    output,
  });
  return answer === true;
}
