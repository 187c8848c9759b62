// What a program loads, runs or asks for because a variable says so. The list follows the manuals of the programs that it names.
const changing: readonly RegExp[] = [
  /^(?:LD|DYLD|GCONV|GLIBC|MALLOC|LIBRARY|XDG|SSL|SSH|SUDO|DOCKER|KUBE|AWS|GOOGLE|CLOUDSDK|AZURE|VAULT|HF)_/,
  /^(?:PATH|HOME|SHELL|ENV|BASH_ENV|IFS|PS4|CDPATH|FPATH|ZDOTDIR|SHELLOPTS|BASHOPTS|GLOBIGNORE|PROMPT_COMMAND|POSIXLY_CORRECT)$/,
  // Some of these cannot be set: `bash` leaves out the rest of the line, then.
  /^(?:E?UID|PPID|BASH_VERSINFO|EXECIGNORE|BASH_FUNC_.*|BASH_LOADABLES_PATH|TMPDIR|PWD|OLDPWD|HOSTALIASES|LOCPATH|NLSPATH|TERMINFO.*|TERMCAP)$/,
  /(?:^|_)(?:PAGER|EDITOR|ASKPASS|PRELOAD)$|^(?:VISUAL|BROWSER|OPENER|LESSOPEN|LESSCLOSE)$/,
  /^(?:LESS|LESSKEY.*|MAN.*OPT|GREP_OPTIONS|TAR_OPTIONS|UNZIP|UNZIPOPT|ZIPOPT|GZIP|XZ_.*|RSYNC_.*|RIPGREP_CONFIG_PATH|FZF_.*|BAT_.*)$/,
  /^(?:GIT_(?!TERMINAL_PROMPT$|AUTHOR_|COMMITTER_|OPTIONAL_LOCKS$)|GH_(?!PAGER$)|GITLAB_|HG|SVN_|EMAIL$)/,
  /^(?:NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|REPL_.*|TLS_.*)|TS_NODE_.*|ELECTRON_RUN_AS_NODE|BUN_OPTIONS|DENO_.*|COREPACK_.*|YARN_.*)$/,
  /^npm_config_|^NPM_CONFIG_|^PNPM_|^(?:NPM|NODE_AUTH)_TOKEN$/i,
  /^(?:PYTHON(?!UNBUFFERED$|DONTWRITEBYTECODE$|HASHSEED$|UTF8$|IOENCODING$|WARNINGS$)|PIP_|UV_(?:INDEX|EXTRA|DEFAULT|PYTHON|CONFIG|PROJECT)|VIRTUAL_ENV$)/,
  /^(?:PERL|RUBY|GEM_|BUNDLE_|PHP_|PHPRC$|LUA_|TCL|JAVA_|_JAVA|JDK_|CLASSPATH$|MAVEN_|GRADLE_|ANT_|SBT_|GROOVY_|SCALA_)/,
  /^(?:CARGO_(?!TERM_|INCREMENTAL$|PROFILE_|BUILD_JOBS$|NET_RETRY$|REGISTRIES_CRATES_IO_PROTOCOL$)|RUSTC|RUSTDOC$|RUSTUP_)/,
  /^(?:GO(?:FLAGS|PROXY|ROOT|PATH|BIN|ENV|TOOLDIR|TOOLCHAIN|PRIVATE|SUMDB|NOSUMDB)|CGO_.*|MAKE(?:FLAGS|FILES|OVERRIDES)?|CMAKE_.*_LAUNCHER)$/,
  /^(?:CURL_.*|WGETRC|NETRC|OPENSSL_.*|GNUPGHOME|GPG_.*|.*_PROXY|PSQLRC|PG.*|MYSQL.*|REDISCLI_.*)$/i,
];
// Lower case names belong to whoever writes a script, but for these.
const special =
  /^(?:path|fpath|cdpath|manpath|module_path|commands|functions|aliases|galiases|saliases|options|(?:npm|git)_.*|.*_proxy|node_options|node_path|bash_env|pythonpath|pythonstartup|pythonhome|perl5lib|perl5opt|rubylib|rubyopt|java_tool_options|jdk_java_options|comspec|pathext)$/;
// Letters of some encodings end in what is a quote or a backslash elsewhere.
const plainLocale = /^(?:C|POSIX|(?:C|[a-z]{2,3}_[A-Z]{2})\.utf-?8)?$/i;
const plainValues: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:LANG|LC_ALL|LC_CTYPE)$/, plainLocale],
  [/PAGER$/, /^(?:cat|less|more)?$/],
  [/EDITOR$|^VISUAL$/, /^(?:true|:|cat)$/],
  [/^NODE_OPTIONS$/, /^(?:--(?:max[-_]old[-_]space[-_]size=\d+|no-warnings|enable-source-maps|trace-warnings)\s*)*$/],
  [/^(?:CC|CXX|AR|LD)$/, /^[\w+.-]+$/],
];

/** Whether programs may do something else because this variable was set, as far as its value is known. */
export function changesPrograms(name: string, value?: string): boolean {
  const plain = plainValues.find(([names]) => names.test(name));
  if (plain !== undefined) return value === undefined || !plain[1].test(value);
  if (/^[a-z_][a-z0-9_]*$/.test(name)) return special.test(name);
  return changing.some((pattern) => pattern.test(name));
}
