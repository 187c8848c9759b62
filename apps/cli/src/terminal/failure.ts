import { describeThrown, HoldfastError, isHoldfastError, isPlainObject } from '@holdfast/core';
import { type Colors, createColors } from './colors.ts';
import { describeTerminal, type Host, type Interruption } from './host.ts';
import { toPrintable } from './text.ts';

/**
 * 0 done; 1 it did not work out, or did not complete; 2 the command line or the configuration was wrong; 3 the run waits for a person; 4 code that was found is not trusted; 129 SIGHUP, 130
 * Ctrl-C, 143 SIGTERM.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 129 | 130 | 143;

/** How the program ends when it is told to stop. */
export const interruptionCodes: Readonly<Record<Interruption, ExitCode>> = {
  'ctrl-c': 130,
  terminated: 143,
  'hung-up': 129,
  'stdout-closed': 1,
  crash: 1,
};

/** The command line asks for something that cannot be. `code` starts with `usage.`; such errors exit with 2. */
export function usageError(code: `usage.${string}`, message: string): HoldfastError {
  return new HoldfastError(code, message);
}

// What is asked for cannot be put in force, so nothing has been done.
const wrongRequest = /^(?:usage|guard|user_config|trust|config|run\.config|registry|plugin|pack|policy|llama)\./;

export function toExitCode(thrown: unknown): ExitCode {
  if (isHoldfastError(thrown) && thrown.code === 'terminal.interrupted') return interruptionCodes['ctrl-c'];
  if (isHoldfastError(thrown) && /^trust\.(?:required|refused)$/.test(thrown.code)) return 4;
  return isHoldfastError(thrown) && wrongRequest.test(thrown.code) ? 2 : 1;
}

/** Tells a person of something thrown. */
export function reportFailure(thrown: unknown, { stderr, environment }: Pick<Host, 'stderr' | 'environment'>): void {
  const { color } = describeTerminal(stderr, environment);
  stderr.write(formatFailure(thrown, { colors: createColors(color), debug: environment['HOLDFAST_DEBUG'] === '1' }));
}

export interface FailureStyle {
  readonly colors: Colors;
  /** Shows stacks too. */
  readonly debug: boolean;
}

/** What a person is told of something thrown: message, code and hint; the stack only for debugging. */
export function formatFailure(thrown: unknown, { colors, debug }: FailureStyle): string {
  const code = isHoldfastError(thrown) ? ` (${thrown.code})` : '';
  const lines = [`${colors.red('error')}: ${toPrintable(describeThrown(thrown))}${colors.dim(code)}`];
  if (isHoldfastError(thrown) && isPlainObject(thrown.data) && typeof thrown.data['hint'] === 'string') {
    lines.push(`  hint: ${toPrintable(thrown.data['hint'])}`);
  }
  if (debug && thrown instanceof Error) {
    for (let error: unknown = thrown; error instanceof Error; error = error.cause)
      lines.push(error.stack ?? error.message);
  }
  return `${lines.join('\n')}\n`;
}
