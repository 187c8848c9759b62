// None of these makes a command do something else.
const harmless: ReadonlySet<string> = new Set(
  'CI CLICOLOR COLUMNS DEBUG FORCE_COLOR LANGUAGE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME LINES NODE_ENV NO_COLOR TERM TZ VERBOSE'.split(
    ' ',
  ),
);
// Letters of some encodings end in what is a quote or a backslash elsewhere.
const plainLocale = /^(?:C|POSIX|(?:C|[a-z]{2,3}_[A-Z]{2})\.utf-?8)?$/i;
const plainValues: ReadonlyMap<string, RegExp> = new Map([
  ...['LANG', 'LC_ALL', 'LC_CTYPE'].map((name) => [name, plainLocale] as const),
  ...['PAGER', 'GIT_PAGER', 'MANPAGER', 'GH_PAGER'].map((name) => [name, /^cat$/] as const),
  ...['GIT_TERMINAL_PROMPT', 'PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE'].map((name) => [name, /^[01]$/] as const),
  ['NODE_OPTIONS', /^--max[-_]old[-_]space[-_]size=\d+$/],
]);
// Lower case names belong to whoever writes a script, but for these: what zsh ties to its own tables, proxies, and what Windows takes for
// the same as upper case.
const special =
  /^(?:path|fpath|cdpath|manpath|module_path|commands|functions|aliases|galiases|saliases|options|(?:npm|git)_.*|.*_proxy|node_options|node_path|bash_env|pythonpath|pythonstartup|pythonhome|perl5lib|perl5opt|rubylib|rubyopt|java_tool_options|jdk_java_options|comspec|pathext)$/;

/** Whether a command cannot run otherwise because this variable was set, as far as its value is known. */
export function isHarmlessVariable(name: string, value?: string): boolean {
  if (value !== undefined && plainValues.get(name)?.test(value) === true) return true;
  return harmless.has(name) || (/^[a-z_][a-z0-9_]*$/.test(name) && !special.test(name));
}
