import { realpath } from 'node:fs/promises';
import { isCancel, select } from '@clack/prompts';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { findQuestionStream, type Host, type TakenStreams } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { type CodeChange, type CodeState, compareCode, type FoundCode } from './found-code.ts';
import { readTrusted, type TrustedFolder, writeTrusted } from './store.ts';

/** How a command treats found code that is not trusted. */
export interface FoundUse {
  /** `refuse`: ask, and end without a yes. `leave-out`: do not run it, and say so. */
  readonly untrusted: 'refuse' | 'leave-out';
  /** True if `--trust` is set. */
  readonly trust?: boolean | undefined;
  /** True if tools of the tools folder may run. */
  readonly tools: boolean;
  /** Streams that are not available for questions. Default: none. */
  readonly taken?: TakenStreams;
  /** How to name this code, if `holdfast trust` does not find it. */
  readonly naming?: string | undefined;
  /** The found code of a resumed run, instead of what is found now. */
  readonly recorded?: { readonly isConfigFound: boolean; readonly tools: string | undefined };
}

/** For commands that only show something. */
export const onlyLooking: FoundUse = { untrusted: 'leave-out', tools: true };

export interface TrustPlace {
  /** The folder in which the code was found. Absolute. */
  readonly directory: string;
  readonly host: Host;
}

/**
 * Returns true if found code may run. Asks the user unless the code may be left out.
 *
 * @throws HoldfastError `trust.required`, `user_config.invalid`, `user_folder.*`.
 */
export async function demandTrust(
  found: FoundCode,
  { untrusted, trust = false, taken = { stdin: false, stdout: false }, naming }: Omit<FoundUse, 'tools'>,
  { directory, host }: TrustPlace,
): Promise<boolean> {
  if (found.names.length === 0) return true;
  const trusted = await readTrusted(directory, host);
  const state = await compareCode(found, directory, trusted);
  if (state.changes.length === 0) return true;
  if (untrusted === 'leave-out') return false;
  if (!trust) await askForTrust(found, { state, isFirst: trusted.files.size === 0, taken, naming }, host);
  await keepTrust(directory, { ...state, trusted }, host);
  return true;
}

/** Adds trusted code of a folder, and removes deleted files. */
async function keepTrust(
  directory: string,
  { code, changes, trusted }: CodeState & { readonly trusted: TrustedFolder },
  host: Host,
): Promise<void> {
  const gone = new Set(changes.flatMap(({ state, name }) => (state === 'gone' ? [name] : [])));
  const kept = [...trusted.files].filter(([name]) => !gone.has(name));
  const files = new Map([...kept, ...code.files]);
  await writeTrusted(
    directory,
    { ...trusted, files, packages: new Map([...trusted.packages, ...code.packages]) },
    host,
  );
}

interface TrustQuestion extends Pick<FoundUse, 'naming'> {
  readonly state: CodeState;
  readonly isFirst: boolean;
  readonly taken: TakenStreams;
}

async function askForTrust(
  { names }: FoundCode,
  { state, isFirst, taken, naming }: TrustQuestion,
  host: Host,
): Promise<void> {
  const output = findQuestionStream(host, taken);
  const title = isFirst
    ? 'This folder contains code that is not trusted. If you trust it, it runs with your rights:'
    : 'This folder contains code that has changed since you trusted it. If you trust it, it runs with your rights:';
  const text = `${title}\n${describeChanges(state.changes, isFirst).join('\n')}\n`;
  (output ?? host.stderr).write(text);
  const what = names.map((name) => `\`${name}\``).join(' and ');
  const isAre = names.length === 1 ? 'is' : 'are';
  const hint =
    naming !== undefined
      ? `Review it, then pass \`--trust\` or name it: ${naming}.`
      : 'Review these files, then trust them with `holdfast trust` or `--trust`, or name what may run with `--config FILE` and `--tools DIR`. To work on this folder without its code, run `holdfast` in another folder with `--workspace`.';
  if (output === undefined) {
    throw new HoldfastError(
      'trust.required',
      `${what} ${isAre} not trusted${isFirst ? '' : ' in the current state'}, and there is no terminal to ask for trust. Nothing has run.`,
      { data: { hint } },
    );
  }
  const answer = await select({
    message: 'Trust this code?',
    options: [
      { value: 'no', label: 'No' },
      { value: 'yes', label: 'Yes, until one of these files changes' },
    ],
    // Enter alone must not approve.
    initialValue: 'no',
    input: host.stdin,
    output,
  });
  if (!isCancel(answer) && answer === 'yes') return;
  throw new HoldfastError('trust.required', `${what} ${isAre} not trusted. Nothing has run.`, {
    data: { reason: 'refused', hint },
  });
}

/** A line per change, marked if it is outside the folder. */
export function describeChanges(changes: readonly CodeChange[], isFirst: boolean): readonly string[] {
  return changes.map(({ state, name }) => {
    const outside = /^(?:\.\.\/|\/|[A-Za-z]:)/.test(name) ? '  (outside this folder)' : '';
    return `  ${isFirst ? '' : state.padEnd(9)}${toPrintable(name)}${outside}`;
  });
}

/** The notice of commands that leave out untrusted code. */
export function describeLeftOut(names: readonly string[]): string {
  return `not trusted and left out: ${names.map(toPrintable).join(', ')}; \`holdfast trust\` lists and trusts it\n`;
}

/**
 * Remembers what the command line named for a run, so that resuming may use it. If it cannot be stored, resuming asks.
 *
 * @throws HoldfastError `user_config.invalid`.
 */
export async function rememberNamed(
  { named, directory }: { readonly named: readonly string[]; readonly directory: string },
  host: Host,
): Promise<void> {
  if (named.length === 0) return;
  const names = await Promise.all(named.map(toKept));
  try {
    const trusted = await readTrusted(directory, host);
    if (names.every((name) => trusted.named.has(name))) return;
    await writeTrusted(directory, { ...trusted, named: new Set([...trusted.named, ...names]) }, host);
  } catch (thrown) {
    if (!isHoldfastError(thrown) || !thrown.code.startsWith('user_folder.')) throw thrown;
    host.stderr.write(`warning: ${toPrintable(thrown.message)} Resuming this run will ask for trust.\n`);
  }
}

/** True if a run in the directory has named the path or the package (`toNamedPackage`). */
export async function wasNamed(name: string, { directory, host }: TrustPlace): Promise<boolean> {
  const { named } = await readTrusted(directory, host);
  return named.has(await toKept(name));
}

const packageMark = 'package:';

/** The stored form of a package, beside paths. */
export function toNamedPackage(name: string): string {
  return `${packageMark}${name}`;
}

async function toKept(name: string): Promise<string> {
  // A missing path is not run either.
  return name.startsWith(packageMark) ? name : realpath(name).catch(() => name);
}
