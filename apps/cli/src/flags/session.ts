import type { Command } from 'commander';
import type { SessionName } from '../workspace/known.ts';

/** An existing session, and the output format. */
export interface SessionOptions extends SessionName {
  readonly json?: boolean | undefined;
}

/** For commands about one session; `otherwise`: the default, for the help. */
export function addSessionOptions(
  command: Command,
  { otherwise = 'the newest', json = 'print JSON' }: { readonly otherwise?: string; readonly json?: string } = {},
): Command {
  return addWorkspaceOption(command.argument('[id]', `session id (default: ${otherwise})`)).option('--json', json);
}

export function addWorkspaceOption(command: Command): Command {
  return command.option('--workspace <dir>', 'workspace of the session', '.');
}
