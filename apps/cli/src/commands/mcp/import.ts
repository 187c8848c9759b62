import { chmod, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { readText, writeText } from '../../guard/files.ts';
import { requirePerson } from '../../guard/person.ts';
import { homeFolder } from '../../guard/place.ts';
import { type EditedSettings, type SettingsFormat, unwrapServers, wrapServers } from '../../mcp/settings.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { resolveLinks } from '../../user/guard-folder.ts';

export interface ImportOptions {
  readonly file: string;
  /** The words that start this program. */
  readonly program: readonly string[];
  /** Takes the words out again. */
  readonly restore: boolean;
}

/**
 * Puts `mcp wrap` in front of every server in a client's settings, or takes it out again.
 *
 * @throws HoldfastError `usage.invalid` (`file_missing`), `settings.invalid`, `guard.person_required`.
 */
export async function importSettings({ file, program, restore }: ImportOptions, host: Host): Promise<ExitCode> {
  if (restore) requirePerson('take a guard away', host);
  const path = resolveLinks(resolve(host.directory, file));
  const before = await readText(path);
  if (before === undefined)
    throw usageError(
      'file_missing',
      `\`${file}\` does not exist: give the settings file of a client, such as .mcp.json.`,
    );
  const { text, entries } = edit(before, { program, restore, path }, host);
  if (text !== before) {
    const { mode } = await stat(path);
    await writeText(path, text);
    await chmod(path, mode);
  }
  const changed = restore ? 'restored' : 'wrapped';
  const states = {
    changed,
    unchanged: `not ${changed}: nothing to do`,
    remote: 'left alone: neither a program nor an address that `mcp wrap` can reach',
  } as const;
  const lines = entries.map(({ name, state }) => `${toPrintable(name)}: ${states[state]}`);
  const next = entries.some(({ state }) => state === 'changed') && !restore ? [describeNext(isUsers(path, host))] : [];
  printLines(host, lines.length === 0 ? [`No servers in ${toPrintable(path)}.`] : [...lines, ...next]);
  return 0;
}

function describeNext(user: boolean): string {
  return `Each is held back until you have looked at it: start your client once, then run \`holdfast lock${user ? ' --user' : ''} --accept mcp:NAME\`.`;
}

function edit(
  text: string,
  { program, restore, path }: Omit<ImportOptions, 'file'> & { path: string },
  host: Host,
): EditedSettings {
  try {
    const format = toFormat(path);
    return restore ? unwrapServers(text, format) : wrapServers(text, program, { format, user: isUsers(path, host) });
  } catch (cause) {
    if (!isHoldfastError(cause)) throw cause;
    const what = toFormat(path) === 'toml' ? 'TOML' : 'JSON with comments';
    throw new HoldfastError('settings.invalid', `\`${path}\` is not ${what}: it is left as it was.`, {
      data: { path },
      cause,
    });
  }
}

/** Settings in the user's home are their own, and so are those in a folder there that programs keep settings in. */
function isUsers(path: string, host: Host): boolean {
  const [first = '', ...below] = relative(resolveLinks(homeFolder(host)), path).split(sep);
  return first !== '..' && !isAbsolute(first) && (below.length === 0 || /^(?:\..+|Library|AppData)$/.test(first));
}

function toFormat(path: string): SettingsFormat {
  return extname(path) === '.toml' ? 'toml' : 'json';
}
