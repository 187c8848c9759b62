import { describeThrown } from '@holdfast/core/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { describePack } from '../run/setup.ts';
import { openEquipment } from '../settings/equipment.ts';
import type { ViewPlace } from '../settings/registry-view.ts';
import { findFolder, readSettings } from '../settings/settings.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { onlyLooking } from '../trust/trust.ts';
import { isFolder } from '../workspace/folder.ts';

/** The state of a run's configuration. */
export interface ConfigState {
  /** `null`: missing or unreadable. */
  readonly file: string | null;
  /** True if a run can start with it, or without any. */
  readonly usable: boolean;
  /** Names and versions of the plugins in force. */
  readonly plugins: readonly string[];
  /** Ids and presets of the packs in force. */
  readonly packs: readonly string[];
  /** Found code that is not trusted yet. */
  readonly untrusted: readonly string[];
}

export interface ExaminedConfig {
  readonly state: ConfigState;
  /** The tools folder to use; `undefined`: none is named. */
  readonly tools: string | undefined;
  readonly subfolders: boolean;
  readonly problems: readonly string[];
}

/** Opens what a configuration names and closes it again. */
export async function examineConfig(
  { config, tools, subfolders, workspace }: ViewPlace & { readonly workspace: string },
  host: Host,
): Promise<ExaminedConfig> {
  const none: ConfigState = { file: null, usable: true, plugins: [], packs: [], untrusted: [] };
  let examined: ExaminedConfig = { state: none, tools, subfolders: subfolders === true, problems: [] };
  try {
    const place = (await isFolder(workspace)) ? { workspace } : {};
    const settings = await readSettings({ config, tools, subfolders }, { ...place, host, found: onlyLooking });
    const folder = await findFolder(settings);
    examined = {
      ...examined,
      state: { ...none, file: settings.file, untrusted: settings.untrusted },
      tools: tools ?? (folder.path === undefined ? undefined : folder.name),
      subfolders: settings.effective.subfolders.value,
    };
    if (settings.effective.plugins.length + settings.effective.packs.length === 0) return examined;
    // Opening with a lock would write copies of the tools.
    const { registry, used, leftOut, close } = await openEquipment(
      settings,
      folder,
      { lock: { tools: 'ignore' } },
      host,
    );
    await close();
    return {
      ...examined,
      state: {
        ...examined.state,
        plugins: used.plugins.map(({ name, version }) => `${name} ${version}`),
        packs: registry.packsInForce.map(describePack),
      },
      problems: leftOut.map(({ message }) => message),
    };
  } catch (thrown) {
    return { ...examined, state: { ...examined.state, usable: false }, problems: [describeThrown(thrown)] };
  }
}

/** True if the found code may run. */
export function describeTrust({ untrusted }: ConfigState): readonly (readonly [string, string])[] {
  const text =
    untrusted.length === 0
      ? 'no untrusted code found'
      : `not trusted: ${untrusted.map(toPrintable).join(', ')}. A run asks first; \`holdfast trust\` lists and trusts it`;
  return [['trust', text]];
}

export function describeConfig({
  file,
  usable,
  plugins,
  packs,
  untrusted,
}: ConfigState): readonly (readonly [string, string])[] {
  if (!usable) return [['config', `${toPrintable(file ?? 'configuration')} is invalid; runs will fail`]];
  if (file === null && untrusted.some((name) => name.startsWith('holdfast.config.')))
    return [['config', 'not loaded, because it is not trusted']];
  if (file === null) return [['config', 'no holdfast.config.ts; runs use no plugins or packs']];
  const counts = `${formatCount(plugins.length, 'plugin')} and ${formatCount(packs.length, 'pack')} in force`;
  return [
    ['config', `${toPrintable(file)}: ${counts}`],
    ...(plugins.length === 0 ? [] : [['plugins', toPrintable(plugins.join(', '))] as const]),
    ...(packs.length === 0 ? [] : [['packs', toPrintable(packs.join(', '))] as const]),
  ];
}
