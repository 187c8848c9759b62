import type { EnvironmentRequest } from '@holdfast/loader/internal';
import { createColors } from '../terminal/colors.ts';
import { describeTerminal, type Host, type OutputStream } from '../terminal/host.ts';
import { choose } from '../terminal/prompt.ts';
import { padColumns, toPrintable } from '../terminal/text.ts';

export interface AskEnvironmentOptions {
  readonly output: OutputStream;
  isSet(name: string): boolean;
}

/**
 * Asks at the terminal whether a tool may read the environment variables that it declares. Escape means no.
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
      `  ${bold(toPrintable(tool))} (${toPrintable(file)}) requests environment variables:`,
      ...lines,
      ...(digest === undefined ? [] : [dim(`    sha256 ${digest.slice(0, 16)}`)]),
      '',
    ].join('\n'),
  );
  const answer = await choose({
    message: `Allow ${toPrintable(tool)} to read them?`,
    options: [
      { value: true, label: digest === undefined ? 'Yes, for this run' : 'Yes, until the tool changes' },
      { value: false, label: 'No' },
    ],
    // Enter alone must not grant anything.
    initialValue: false,
    input: host.stdin,
    output,
  });
  return answer === true;
}
