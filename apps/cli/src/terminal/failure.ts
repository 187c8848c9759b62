import { isHoldfastError } from '@holdfast/core';
import { describeCode, describeThrown, errorsOf, isPlainObject, type ReasonedError } from '@holdfast/core/internal';
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

/** Reasons of `usage.invalid`. */
export type UsageReason =
  | 'agent_unknown'
  | 'base_url_missing'
  | 'call_ambiguous'
  | 'call_unknown'
  | 'cases_missing'
  | 'checksum_invalid'
  | 'checksum_missing'
  | 'file_exists'
  | 'file_missing'
  | 'file_not_tool'
  | 'folder_missing'
  | 'grant_unknown'
  | 'head_invalid'
  | 'header_missing'
  | 'input_missing'
  | 'key_missing'
  | 'limit_used'
  | 'local_packages_missing'
  | 'lock_missing'
  | 'model_unknown'
  | 'module_missing'
  | 'name_invalid'
  | 'name_taken'
  | 'name_unknown'
  | 'option_unused'
  | 'options_invalid'
  | 'overrides_missing'
  | 'pack_missing'
  | 'pack_unclear'
  | 'plan_unknown'
  | 'plan_unreadable'
  | 'plugin_installed'
  | 'preset_twice'
  | 'prompt_foreign'
  | 'prompt_missing'
  | 'prompt_unclear'
  | 'protocol_missing'
  | 'provider_missing'
  | 'provider_unusable'
  | 'record_unknown'
  | 'request_empty'
  | 'request_not_text'
  | 'request_too_large'
  | 'resolution_missing'
  | 'run_foreign'
  | 'script_unreadable'
  | 'server_missing'
  | 'session_ambiguous'
  | 'session_invalid'
  | 'session_unknown'
  | 'threads_invalid'
  | 'tools_missing'
  | 'tool_unknown'
  | 'tools_around_workspace'
  | 'url_invalid'
  | 'value_invalid'
  | 'value_unexpected'
  | 'version_missing'
  | 'workspace_missing';

/** A wrong usage: `usage.invalid` with a reason; such errors exit with 2. */
export const usageError: ReasonedError<UsageReason> = errorsOf('usage.invalid');

// Errors in the request or configuration: nothing has been done.
const wrongRequest =
  /^(?:usage|guard|user_config|trust|config|run\.config|registry|plugin|pack|policy|llama|lock|settings)\./;

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
  const code = isHoldfastError(thrown) ? ` (${describeCode(thrown)})` : '';
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
