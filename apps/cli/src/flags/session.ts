import type { Command } from 'commander';
import type { SessionName } from '../workspace/known.ts';

/** A session that is there, and how what is said of it is printed. */
export interface SessionOptions extends SessionName {
  readonly json?: boolean | undefined;
}

/** Of commands about one session; `otherwise`: what counts without its id. */
export function addSessionOptions(
  command: Command,
  { otherwise = 'the newest', json = 'as JSON' }: { readonly otherwise?: string; readonly json?: string } = {},
): Command {
  return addWorkspaceOption(command.argument('[id]', `id of the session (default: ${otherwise})`)).option(
    '--json',
    json,
  );
}

export function addWorkspaceOption(command: Command): Command {
  return command.option('--workspace <dir>', 'folder that the session works in', '.');
}
