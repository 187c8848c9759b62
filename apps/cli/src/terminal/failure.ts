import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { type Colors, createColors } from './colors.ts';
import { describeTerminal, type Host, type Interruption } from './host.ts';
import { toPrintable } from './text.ts';

/**
 * 0 success; 1 failure, or not completed; 2 wrong usage or configuration; 3 the run is suspended; 4 found code is not trusted; 129 SIGHUP;
 * 130 Ctrl-C; 143 SIGTERM.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 129 | 130 | 143;

/** The exit code after an interruption. */
export const interruptionCodes: Readonly<Record<Interruption, ExitCode>> = {
  'ctrl-c': 130,
  terminated: 143,
  'hung-up': 129,
  'stdout-closed': 1,
  crash: 1,
};

/** A wrong usage. `code` starts with `usage.`; such errors exit with 2. */
export function usageError(code: `usage.${string}`, message: string): HoldfastError {
  return new HoldfastError(code, message);
}

// Errors in the request or configuration: nothing has been done.
const wrongRequest = /^(?:usage|guard|user_config|trust|config|run\.config|registry|plugin|pack|policy|llama)\./;

export function toExitCode(thrown: unknown): ExitCode {
  if (isHoldfastError(thrown) && thrown.code === 'terminal.interrupted') return interruptionCodes['ctrl-c'];
  if (isHoldfastError(thrown) && /^trust\.(?:required|refused)$/.test(thrown.code)) return 4;
  return isHoldfastError(thrown) && wrongRequest.test(thrown.code) ? 2 : 1;
}

/** Prints an error for people. */
export function reportFailure(thrown: unknown, { stderr, environment }: Pick<Host, 'stderr' | 'environment'>): void {
  const { color } = describeTerminal(stderr, environment);
  stderr.write(formatFailure(thrown, { colors: createColors(color), debug: environment['HOLDFAST_DEBUG'] === '1' }));
}

export interface FailureStyle {
  readonly colors: Colors;
  /** Includes stacks. */
  readonly debug: boolean;
}

/** Formats an error for people: message, code and hint; the stack only for debugging. */
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
