// None of these makes a command do something else.
const harmless: ReadonlySet<string> = new Set(
  'CI CLICOLOR COLUMNS DEBUG FORCE_COLOR LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LINES NODE_ENV NO_COLOR TERM TZ VERBOSE'.split(
    ' ',
  ),
);
// Lower case names belong to whoever writes a script, but for these: what zsh ties to its own tables, and proxies.
const special =
  /^(?:path|fpath|cdpath|manpath|module_path|commands|functions|aliases|galiases|saliases|options|(?:npm|git)_.*|.*_proxy)$/;

/** Whether a command cannot run otherwise because this variable was set. */
export function isHarmlessVariable(name: string): boolean {
  return harmless.has(name) || (/^[a-z_][a-z0-9_]*$/.test(name) && !special.test(name));
}
