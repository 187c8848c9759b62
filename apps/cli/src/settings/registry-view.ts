import type { Explanation, Provenance, Registry } from '@holdfast/registry';
import type { Host } from '../terminal/host.ts';
import { onlyLooking } from '../trust/trust.ts';
import { isFolder } from '../workspace/folder.ts';
import { filesGuard } from './builtin-plugins.ts';
import { type Equipment, openEquipment, reportProblems } from './equipment.ts';
import { type ConfigFlag, findFolder, readSettings } from './settings.ts';

/** Where a command that only looks finds what it shows. */
export interface ViewPlace {
  readonly config?: ConfigFlag;
  /** Absent: the default folder, when there is one. */
  readonly tools?: string | undefined;
  /** Reads the folders in it, too. */
  readonly subfolders?: boolean | undefined;
}

/**
 * Opens what a run of the current folder would be given, tells on stderr what is left out, and lets `show` look at it.
 *
 * @throws HoldfastError as `openEquipment`.
 */
export async function viewEquipment<Answer>(
  place: ViewPlace,
  host: Host,
  show: (equipment: Equipment) => Answer | Promise<Answer>,
): Promise<Answer> {
  const workspace = (await isFolder(host.directory)) ? { workspace: host.directory } : {};
  const settings = await readSettings(place, { ...workspace, host, found: onlyLooking });
  const equipment = await openEquipment(settings, await findFolder(settings), {}, host);
  try {
    reportProblems(equipment, host);
    return await show(equipment);
  } finally {
    await equipment.close();
  }
}

/** Everything that a registry knows, also what is not in force. */
export function listEverything(registry: Registry): readonly Explanation[] {
  // Its `contributions` are explanations: the registry's own tests hold it to that.
  const { contributions } = registry.toJSON() as { readonly contributions: readonly Explanation[] };
  return [...contributions, filesGuard];
}

/** Whatever has a name. */
export function explain(registry: Registry, name: string): readonly Explanation[] {
  const isGuard = [filesGuard.name, filesGuard.qualifiedName, 'read-before-write'].includes(name);
  return isGuard ? [...registry.explain(name), filesGuard] : registry.explain(name);
}

/** The package that something came from, with its version where that is another, else the file; empty where neither is known. */
export function describeProvenance({ package: name, packageVersion, file }: Provenance): string {
  if (name === undefined) return file ?? '';
  return packageVersion === undefined ? name : `${name} ${packageVersion}`;
}
