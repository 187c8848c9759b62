import { joinKey, parentOf } from '../paths/paths.ts';
import type { Conflict } from '../staging/errors.ts';
import { toFileError } from './errors.ts';
import { type RecordedChange, type Stamp, temporaryNames } from './journal.ts';
import { Site, type SiteAccess } from './site.ts';

/** A change in the journal of another process. */
export interface LeftChange {
  readonly change: RecordedChange;
  readonly token: string;
  readonly index: number;
  /** The stamp of the temporary file, if any. */
  readonly stamp: Stamp | null;
}

/** Completes or undoes a change from any point. Leaves files alone that others have changed. */
export async function settleChange(
  access: SiteAccess,
  left: LeftChange,
  committed: boolean,
): Promise<Conflict | undefined> {
  const { change } = left;
  try {
    const at = createPlaces(new Site(access), left);
    switch (change.type) {
      case 'write':
        return await (committed ? completeWrite(at, change, left.stamp) : undoWrite(at, change, left.stamp));
      case 'remove-file':
        return await (committed ? completeRemoveFile(at, change) : undoRemoveFile(at, change));
      case 'make-directory':
        return await (committed ? completeMakeDirectory(at) : undoMakeDirectory(at));
      case 'remove-directory':
        return await (committed ? completeRemoveDirectory(at, change) : undoRemoveDirectory(at, change));
      default:
        return change satisfies never;
    }
  } catch (error) {
    throw toFileError(error, change.key, 'write');
  }
}

/** Removes the backup of a change. If its process ended during `prepare`, there is no backup yet. */
export async function cleanChange(
  access: SiteAccess,
  left: LeftChange,
  stage: 'torn' | 'begun' | 'prepared' | 'settled',
): Promise<void> {
  const { site, next, former } = createPlaces(new Site(access), left);
  try {
    await site.removeLeftover(next);
    if (stage !== 'begun') await site.removeLeftover(former);
  } catch (error) {
    throw toFileError(error, left.change.key, 'write');
  }
}

/** The files of a change. */
interface Places {
  readonly site: Site;
  readonly target: string;
  readonly next: string;
  readonly former: string;
  /** Moves a file to a place where it will not be removed. */
  keep(place: string): Promise<Conflict>;
  /** The conflict found by an earlier attempt. */
  findKept(place: string): Promise<Conflict | undefined>;
  conflict(): Conflict;
}

function createPlaces(site: Site, { change, token, index }: LeftChange): Places {
  const { key } = change;
  const names = temporaryNames(token, index);
  const parent = parentOf(key) ?? '';
  const toKept = (place: string) => place.replace(/\.tmp$/u, '.kept');
  return {
    site,
    target: key,
    next: joinKey(change.type === 'write' ? change.folder : parent, names.next),
    former: joinKey(change.type === 'remove-file' ? change.folder : parent, names.former),
    async keep(place) {
      await site.move(place, toKept(place));
      return { key, kept: toKept(place) };
    },
    async findKept(place) {
      return (await site.find(toKept(place))) === undefined ? undefined : { key, kept: toKept(place) };
    },
    conflict: () => ({ key, kept: null }),
  };
}

type Recorded<Type extends RecordedChange['type']> = Extract<RecordedChange, { type: Type }>;

async function completeWrite(
  { site, target, next, former, keep, findKept, conflict }: Places,
  { name, before, after }: Recorded<'write'>,
  stamp: Stamp | null,
): Promise<Conflict | undefined> {
  const found = await site.find(target);
  const isBefore = before === null ? found === undefined : await site.isFile(target, before, stamp);
  if ((await site.find(next)) === undefined) {
    // It became the target, whatever was done to it since, unless it was removed.
    return (await findKept(next)) ?? (before !== null && isBefore ? conflict() : undefined);
  }
  if (!(await site.hasContent(next, after))) return keep(next);
  // Without hard links, the file is moved away first.
  const isAway = found === undefined && before !== null && (await site.isFile(former, before, stamp));
  if ((isBefore || isAway) && (await site.move(next, target, name))) return undefined;
  return (await site.hasContent(target, after)) ? undefined : keep(next);
}

async function undoWrite(
  { site, target, next, former, keep, findKept, conflict }: Places,
  { name, before, after }: Recorded<'write'>,
  stamp: Stamp | null,
): Promise<Conflict | undefined> {
  const earlier = await findKept(former);
  if (earlier !== undefined) return earlier;
  const found = await site.find(target);
  const isFormer = before !== null && (await site.isFile(former, before, stamp));
  const isOurs = stamp !== null && (await site.isFile(target, { ...after, ...stamp }, before));
  if (isOurs && before === null) {
    await site.removeFile(target);
    return undefined;
  }
  if (isFormer && (isOurs || found === undefined) && (await site.move(former, target, name))) return undefined;
  if (before === null ? found === undefined : await site.isFile(target, before, stamp)) return undefined;
  if (isFormer) return keep(former);
  // If the temporary file is still there, the target was not touched.
  return (await site.find(next)) === undefined ? conflict() : undefined;
}

async function completeRemoveFile(
  { site, target, former, conflict }: Places,
  { before }: Recorded<'remove-file'>,
): Promise<Conflict | undefined> {
  if ((await site.find(former)) !== undefined) return undefined;
  const found = await site.find(target);
  // A folder here was created by the same commit.
  if (found === undefined || found.isDirectory()) return undefined;
  return (await site.isFile(target, before)) && (await site.move(target, former)) ? undefined : conflict();
}

async function undoRemoveFile(
  { site, target, former, keep, findKept }: Places,
  { name, before }: Recorded<'remove-file'>,
): Promise<Conflict | undefined> {
  if ((await site.find(former))?.isFile() !== true) return findKept(former);
  const isFree = (await site.find(target)) === undefined && (await site.isFile(former, before));
  return isFree && (await site.move(former, target, name)) ? undefined : keep(former);
}

async function completeMakeDirectory({ site, target, conflict }: Places): Promise<Conflict | undefined> {
  const found = await site.find(target);
  if (found?.isDirectory() === true) return undefined;
  return found === undefined && (await site.makeDirectory(target)) ? undefined : conflict();
}

/** A folder that others have put something into is not removed. */
async function undoMakeDirectory({ site, target }: Places): Promise<undefined> {
  if ((await site.find(target))?.isDirectory() === true) await site.removeDirectory(target);
}

async function completeRemoveDirectory(
  { site, target, conflict }: Places,
  { ino, mode }: Recorded<'remove-directory'>,
): Promise<Conflict | undefined> {
  const found = await site.find(target);
  if (found === undefined || !found.isDirectory()) return undefined;
  // A folder that the ended process recreated during an undo has another number.
  const isSame = String(found.ino) === ino || Number(found.mode & 0o7777n) === mode;
  return isSame && (await site.removeDirectory(target)) ? undefined : conflict();
}

async function undoRemoveDirectory(
  { site, target, former, conflict }: Places,
  { name, mode }: Recorded<'remove-directory'>,
): Promise<Conflict | undefined> {
  const found = await site.find(target);
  if (found !== undefined) return found.isDirectory() ? undefined : conflict();
  await site.removeLeftover(former);
  // Created elsewhere, so that it never appears without its mode.
  const made = (await site.makeDirectory(former, mode)) && (await site.move(former, target, name));
  return made ? undefined : conflict();
}
