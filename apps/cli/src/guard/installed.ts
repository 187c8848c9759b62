import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { copyHook, findHook, removeOldCopies } from './copy.ts';
import { readText, writeText } from './files.ts';
import { forgetHttpPlace, makeHttpPlace } from './http-place.ts';
import { editSettings, findHooks, type HookPlace, installations, type OtherHook, settingsPath } from './install.ts';
import { isModule } from './modules.ts';

export interface Change {
  readonly path: string;
  readonly changed: boolean;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly others: readonly OtherHook[];
}

export interface InstallOptions {
  readonly waitSeconds?: number | undefined;
  readonly http?: boolean | undefined;
}

/** Puts the hooks of a guard into an agent's settings, and keeps what was there. Told twice, it changes nothing. */
export async function installHooks(
  place: HookPlace,
  host: GuardHost,
  { waitSeconds, http = false }: InstallOptions = {},
): Promise<Change> {
  const path = settingsPath(place, host);
  const before = await readText(path);
  const hook = await findHook(host);
  const form = { waitSeconds, http: http ? await makeHttpPlace(host) : undefined };
  const { text: after, others } = editSettings(before, place.agent, hook.words, form);
  await copyHook(hook);
  if (!http) await forgetUnusedHttp(place, host);
  if (before === after) return { path, changed: false, before, after, others };
  await writeCopy(path, { before: before ?? null, after }, host);
  await writeText(path, after);
  const known = await readKnownSettings(host);
  if (known !== undefined) await removeOldCopies(hook, known, host);
  return { path, changed: true, before, after, others };
}

/** Takes the hooks out again: to the byte where nothing else was changed since, else by leaving out ours alone. */
export async function uninstallHooks(place: HookPlace, host: GuardHost): Promise<Change> {
  const path = settingsPath(place, host);
  const before = await readText(path);
  if (findHooks(before, place.agent).size === 0) return { path, changed: false, before, after: before, others: [] };
  const copy = await readCopy(path, host);
  const { text, others } = editSettings(before, place.agent, undefined);
  const left = isModule(place.agent) ? undefined : text;
  const after = copy?.after === before ? (copy?.before ?? undefined) : left;
  if (after === undefined) await rm(path);
  else await writeText(path, after);
  await rm(copyPath(path, host), { force: true });
  await forgetUnusedHttp(place, host);
  return { path, changed: true, before, after, others };
}

/** The events for which an agent has our hook, and the command. */
export async function readHooks(place: HookPlace, host: GuardHost): Promise<ReadonlyMap<string, readonly string[]>> {
  return findHooks(await readText(settingsPath(place, host)), place.agent);
}

/** True if an agent's settings have our hook for its calls. */
export async function hasHooks(place: HookPlace, host: GuardHost): Promise<boolean> {
  try {
    return (await readHooks(place, host)).has(installations[place.agent]?.before ?? '');
  } catch {
    // Settings that cannot be read have no hook that runs.
    return false;
  }
}

/** Only the user's own settings have hooks by HTTP. */
async function forgetUnusedHttp({ agent, project }: HookPlace, host: GuardHost): Promise<void> {
  if (project === undefined && installations[agent]?.byHttp !== undefined) await forgetHttpPlace(host);
}

/** The texts of all settings that have a guard of ours; `undefined` if that cannot be told. */
async function readKnownSettings(host: GuardHost): Promise<readonly string[] | undefined> {
  const folder = copiesFolder(host);
  const texts: string[] = [];
  for (const name of await readdir(folder)) {
    const copy = parseJson((await readText(join(folder, name))) ?? '');
    if (!copy.ok || !isPlainObject(copy.value) || typeof copy.value['path'] !== 'string') return undefined;
    texts.push((await readText(copy.value['path'])) ?? '');
  }
  return texts;
}

interface Copy {
  readonly before: string | null;
  readonly after: string;
}

function copyPath(path: string, host: GuardHost): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(copiesFolder(host), `${name}.json`);
}

function copiesFolder(host: GuardHost): string {
  return join(guardFolder(host), 'settings');
}

/** An installation over an earlier one keeps the settings from before the first. */
async function writeCopy(path: string, { before, after }: Copy, host: GuardHost): Promise<void> {
  const copy = await readCopy(path, host);
  const first = copy?.after === before ? copy.before : before;
  await writeText(copyPath(path, host), `${JSON.stringify({ path, before: first, after })}\n`);
}

async function readCopy(path: string, host: GuardHost): Promise<Copy | undefined> {
  const text = await readText(copyPath(path, host));
  if (text === undefined) return undefined;
  const copy: unknown = JSON.parse(text);
  if (!isPlainObject(copy) || typeof copy['after'] !== 'string') return undefined;
  return { before: typeof copy['before'] === 'string' ? copy['before'] : null, after: copy['after'] };
}
