import { realpath } from 'node:fs/promises';
import { isCancel, select } from '@clack/prompts';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { findQuestionStream, type Host, type TakenStreams } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { type CodeChange, type CodeState, compareCode, type FoundCode } from './found-code.ts';
import { readTrusted, type TrustedFolder, writeTrusted } from './store.ts';

/** What a command does about found code that is not trusted. */
export interface FoundUse {
  /** `refuse`: ask for a yes, and end without one. `leave-out`: run nothing of it, and say so. */
  readonly untrusted: 'refuse' | 'leave-out';
  /** Whether `--trust` says yes. */
  readonly trust?: boolean | undefined;
  /** Whether tools of the tools folder may run. */
  readonly tools: boolean;
  /** Streams that cannot carry a question. Default: none. */
  readonly taken?: TakenStreams;
  /** How this code is named, where `holdfast trust` does not find it. */
  readonly naming?: string | undefined;
  /** What a resumed run had of found code, instead of what is found now. */
  readonly recorded?: { readonly isConfigFound: boolean; readonly tools: string | undefined };
}

/** For commands that show what there is. */
export const onlyLooking: FoundUse = { untrusted: 'leave-out', tools: true };

export interface TrustPlace {
  /** The folder in which the code was found. Absolute. */
  readonly directory: string;
  readonly host: Host;
}

/**
 * Whether found code may run. Where it may not be left out, somebody has to say yes.
 *
 * @throws HoldfastError `trust.required`, `trust.refused`, `trust.invalid`, `user_folder.*`.
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

/** Adds to what is trusted of a folder, and forgets what is gone. */
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
    ? 'This folder has code that is not trusted. A yes lets it run with your rights:'
    : 'This folder has code that is not as you trusted it. A yes lets it run with your rights:';
  const text = `${title}\n${describeChanges(state.changes, isFirst).join('\n')}\n`;
  (output ?? host.stderr).write(text);
  const what = names.map((name) => `\`${name}\``).join(' and ');
  const isAre = names.length === 1 ? 'is' : 'are';
  const hint =
    naming !== undefined
      ? `Look at it, then say yes with \`--trust\`, or by its name: ${naming}.`
      : 'Look at these files, then say yes with `holdfast trust` or `--trust`. Or name what may run: `--config FILE`, `--tools DIR`. To work on this folder without its code, call `holdfast` from another one, with `--workspace`.';
  if (output === undefined) {
    throw new HoldfastError(
      'trust.required',
      `${what} ${isAre} found here and not trusted${isFirst ? '' : ' as it is now'}, and there is nobody to ask. Nothing has run.`,
      { data: { hint } },
    );
  }
  const answer = await select({
    message: 'Trust it?',
    options: [
      { value: 'no', label: 'No' },
      { value: 'yes', label: 'Yes, until one of these files changes' },
    ],
    // Enter alone must not say yes.
    initialValue: 'no',
    input: host.stdin,
    output,
  });
  if (!isCancel(answer) && answer === 'yes') return;
  throw new HoldfastError('trust.refused', `${what} ${isAre} not trusted. Nothing has run.`, { data: { hint } });
}

/** A line for each, marked where it lies outside of the folder. */
export function describeChanges(changes: readonly CodeChange[], isFirst: boolean): readonly string[] {
  return changes.map(({ state, name }) => {
    const outside = /^(?:\.\.\/|\/|[A-Za-z]:)/.test(name) ? '  (outside of this folder)' : '';
    return `  ${isFirst ? '' : state.padEnd(9)}${toPrintable(name)}${outside}`;
  });
}

/** What commands that work without untrusted code say of it. */
export function describeLeftOut(names: readonly string[]): string {
  return `not trusted, so nothing of it runs: ${names.map(toPrintable).join(', ')}; \`holdfast trust\` shows it and trusts it\n`;
}

/**
 * Remembers what the command line named for a run: resuming it runs the same again. Without a place to keep it, resuming asks.
 *
 * @throws HoldfastError `trust.invalid`.
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
    host.stderr.write(`warning: ${toPrintable(thrown.message)} Resuming this run will ask for a yes.\n`);
  }
}

/** Whether a run that was begun in the directory has named the path, or the package (`toNamedPackage`). */
export async function wasNamed(name: string, { directory, host }: TrustPlace): Promise<boolean> {
  const { named } = await readTrusted(directory, host);
  return named.has(await toKept(name));
}

const packageMark = 'package:';

/** How a package is remembered beside paths. */
export function toNamedPackage(name: string): string {
  return `${packageMark}${name}`;
}

async function toKept(name: string): Promise<string> {
  // What is not there is not run either.
  return name.startsWith(packageMark) ? name : realpath(name).catch(() => name);
}
