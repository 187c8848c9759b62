import { definePlugin, type Plugin, type Tool } from '@holdfast/core';
import { markdownSection } from '@holdfast/prompt';
import type { Explanation } from '@holdfast/registry';
import manifest from '../../package.json' with { type: 'json' };

const filesText = `The files of the workspace, by paths relative to it. Read an existing file before you change or delete it, and
again if it has changed since. The writes of a call take effect only if the call succeeds.`;

const folderText = 'The tools of this project, each from a file in its tools folder.';

/** The names of the program's own plugins. */
export const builtInPlugins: { readonly files: string; readonly folder: string } = { files: 'files', folder: 'folder' };

const { version } = manifest;

/** The key of the section with the file tools. Plugins cannot use it. */
export const filesSection: string = 'files';

/** The guard that the prompt adds to this section; it is the host's, and applies to the tools of all plugins. */
export const filesGuard: Explanation = {
  kind: 'policy',
  name: `${filesSection}/read-before-write`,
  qualifiedName: `${builtInPlugins.files}/read-before-write`,
  inForce: true,
  provenance: { plugin: builtInPlugins.files, version },
};

/** The file tools as a plugin, so that they are listed, explained and guarded by name like others. */
export function filesPlugin(tools: readonly Tool[]): Plugin {
  return definePlugin({
    name: builtInPlugins.files,
    version,
    description: 'Tools for the files of the workspace.',
    holdfast: '*',
    sections: [markdownSection({ title: 'Files', key: filesSection, template: filesText, tools })],
  });
}

/** The tools of a folder of tool files as a plugin. */
export function folderPlugin(tools: readonly Tool[]): Plugin {
  return definePlugin({
    name: builtInPlugins.folder,
    version,
    description: 'Tools of the tools folder.',
    holdfast: '*',
    sections: tools.length === 0 ? [] : [markdownSection({ title: 'Tools', template: folderText, tools })],
  });
}
