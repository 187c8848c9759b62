import type { Host } from '../terminal/host.ts';

/** Beside what the SDK passes on: where temporary files, caches and certificates are, the language, the way out. */
const usual =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|XDG_[A-Z_]+|(?:https?|no|all)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|npm_config_(?:cache|registry)|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT)$/i;

/**
 * The variables that a server gets: those that every program needs, and those that its entry names. The keys of the client's other
 * programs do not reach it.
 */
export function toServerEnvironment(
  names: readonly string[],
  { environment }: Pick<Host, 'environment'>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (usual.test(entry[0]) || names.includes(entry[0])),
    ),
  );
}
