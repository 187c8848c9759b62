import { definePlugin, type Plugin, type Tool } from '@holdfast/core';
import { markdownSection } from '@holdfast/prompt';
import type { Explanation } from '@holdfast/registry';
import manifest from '../../package.json' with { type: 'json' };

const filesText = `The files of the workspace, by paths relative to it. A file that exists must be read before it is changed or
deleted, and read again when it has changed since. What a call writes counts only when the call succeeds.`;

const folderText = 'What this project brings along, each from a file in its tools folder.';

/** The names of the plugins that this program brings along. */
export const builtInPlugins: { readonly files: string; readonly folder: string } = { files: 'files', folder: 'folder' };

const { version } = manifest;

/** Of the section with the file tools. No plugin can have another one of this key. */
export const filesSection: string = 'files';

/** What there is to say of the guard that the prompt gives this section: it is the host's, and holds for the tools of all plugins. */
export const filesGuard: Explanation = {
  kind: 'policy',
  name: `${filesSection}/read-before-write`,
  qualifiedName: `${builtInPlugins.files}/read-before-write`,
  inForce: true,
  provenance: { plugin: builtInPlugins.files, version },
};

/** The file tools as a plugin, so that they are listed, explained and guarded by name like those of others. */
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
