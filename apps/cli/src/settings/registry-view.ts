import type { Explanation, Provenance, Registry } from '@holdfast/registry';
import type { Host } from '../terminal/host.ts';
import { onlyLooking } from '../trust/trust.ts';
import { isFolder } from '../workspace/folder.ts';
import { filesGuard } from './builtin-plugins.ts';
import { type Equipment, openEquipment, reportProblems } from './equipment.ts';
import { type ConfigFlag, findFolder, readSettings } from './settings.ts';

/** The options of commands that only show something. */
export interface ViewPlace {
  readonly config?: ConfigFlag;
  /** Default: the default folder, if it exists. */
  readonly tools?: string | undefined;
  /** Reads subfolders, too. */
  readonly subfolders?: boolean | undefined;
}

/**
 * Opens what a run in the current folder would use, reports problems on stderr, and calls `show`.
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

/** Everything in a registry, including what is not in force. */
export function listEverything(registry: Registry): readonly Explanation[] {
  // `contributions` are explanations; the registry's own tests ensure this.
  const { contributions } = registry.toJSON() as { readonly contributions: readonly Explanation[] };
  return [...contributions, filesGuard];
}

/** Everything with a name. */
export function explain(registry: Registry, name: string): readonly Explanation[] {
  const isGuard = [filesGuard.name, filesGuard.qualifiedName, 'read-before-write'].includes(name);
  return isGuard ? [...registry.explain(name), filesGuard] : registry.explain(name);
}

/** The package of a contribution, with its version if it differs, or the file; empty if neither is known. */
export function describeProvenance({ package: name, packageVersion, file }: Provenance): string {
  if (name === undefined) return file ?? '';
  return packageVersion === undefined ? name : `${name} ${packageVersion}`;
}
