import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { HookProgram } from '../guard/copy.ts';
import { editSettings } from '../guard/install.ts';
import { toPackageModule } from '../guard/modules.ts';

// One folder that is a marketplace of Claude Code and of Codex, and has an extension or package for each other agent. A plugin has the
// hook's program in it: it needs nothing but Node.js, and no network.

const name = 'holdfast';
const description = 'Puts policies, approvals and a log in front of each tool call.';
const { version, license } = manifest;
const about = { name, version, description };

interface Plugin {
  /** Its folder, where that is not the agent's name. An agent runs it in place: the guard lets no call change a folder of this name. */
  readonly folder?: string;
  /** Its small files, by path in its folder. `hook`: where the hook's program lies there. */
  files(hook: string): Readonly<Record<string, string>>;
  /** How a person installs it, from the folder of all. */
  readonly installs: string;
}

/** Hooks in the format of settings, whose program lies in the folder that the agent puts into a variable. */
function hooksFile(agent: string, variable: string, hook: string): string {
  return editSettings(undefined, agent, ['node', hook], { root: `\${${variable}}` }).text;
}

export const plugins: Readonly<Record<string, Plugin>> = {
  'claude-code': {
    files: (hook) => ({
      '.claude-plugin/plugin.json': toText({ ...about, license }),
      'hooks/hooks.json': hooksFile('claude-code', 'CLAUDE_PLUGIN_ROOT', hook),
    }),
    installs: `/plugin marketplace add FOLDER, then /plugin install ${name}@${name}`,
  },
  codex: {
    files: (hook) => ({
      '.codex-plugin/plugin.json': toText({ ...about, license, hooks: './hooks/hooks.json' }),
      'hooks/hooks.json': hooksFile('codex', 'PLUGIN_ROOT', hook),
    }),
    installs: `codex plugin marketplace add FOLDER && codex plugin add ${name}@${name}, then trust it with /hooks`,
  },
  gemini: {
    files: (hook) => ({
      'gemini-extension.json': toText(about),
      'hooks/hooks.json': hooksFile('gemini', 'extensionPath', hook),
    }),
    installs: 'gemini extensions install FOLDER/gemini',
  },
  opencode: {
    folder: packageName('opencode'),
    files: (hook) => packageFiles('opencode', hook, { main: './index.js' }),
    installs: '"plugin": ["FOLDER/holdfast-opencode"] in opencode.json',
  },
  pi: {
    folder: packageName('pi'),
    files: (hook) => packageFiles('pi', hook, { keywords: ['pi-package'], pi: { extensions: ['./index.js'] } }),
    installs: 'pi install FOLDER/holdfast-pi',
  },
};

/** The name of the package for an agent that loads modules. */
export function packageName(agent: string): string {
  return `${name}-${agent}`;
}

function packageFiles(agent: string, hook: string, more: object): Readonly<Record<string, string>> {
  const fields = { ...about, name: packageName(agent), license, type: 'module', ...more };
  return { 'package.json': toText(fields), 'index.js': toPackageModule(agent, hook) };
}

/** All files of the folder, by path. */
export function makePlugins(program: HookProgram): ReadonlyMap<string, string> {
  const files = new Map<string, string>([
    ['.claude-plugin/marketplace.json', toText(claudeMarketplace)],
    ['.agents/plugins/marketplace.json', toText(codexMarketplace)],
    ['README.md', readme],
  ]);
  const { folder: hook, texts } = toParts(program);
  for (const [agent, plugin] of Object.entries(plugins)) {
    const { folder = agent } = plugin;
    const own = plugin.files(`${hook}/${main}`);
    for (const [path, text] of Object.entries(own)) files.set(`${folder}/${path}`, text);
    for (const [file, text] of texts) files.set(`${folder}/${hook}/${file}`, text);
  }
  return files;
}

const main = 'guard-hook-main.cjs';

interface Parts {
  /** Named by version and content, as a copy of the user's is: hooks of both share a daemon. */
  readonly folder: string;
  readonly texts: ReadonlyMap<string, string>;
}

function toParts({ words, files }: HookProgram): Parts {
  // From sources, which run where they are.
  if (files.size === 0) return { folder: 'hook', texts: new Map([[main, startSources(words)]]) };
  const [first = ''] = files.keys();
  const folder = first.split(/[\\/]/).at(-2) ?? '';
  return { folder, texts: new Map([...files].map(([path, text]) => [path.split(/[\\/]/).at(-1) ?? '', text])) };
}

function startSources([program = '', ...words]: readonly string[]): string {
  const given = JSON.stringify(words);
  return `const { spawnSync } = require('node:child_process');
const { status } = spawnSync(${JSON.stringify(program)}, [...${given}, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 2;
`;
}

const claudeMarketplace = {
  name,
  description,
  owner: { name: 'Holdfast' },
  plugins: [{ ...about, source: './claude-code' }],
};

const codexMarketplace = {
  name,
  interface: { displayName: 'Holdfast' },
  plugins: [
    {
      name,
      source: { source: 'local', path: './codex' },
      policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
      category: 'Developer Tools',
    },
  ],
};

const readme = `# Holdfast for coding agents

Written by \`holdfast guard plugins\`, version ${version}. Each plugin needs Node.js ${manifest.engines.node} and nothing else.

${Object.entries(plugins)
  .map(([agent, { installs }]) => `- ${agent}: ${installs}`)
  .join('\n')}

Do not use it beside \`holdfast guard install\`.
`;

function toText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Where the folder's files go. */
export function placeIn(folder: string, path: string): string {
  return join(folder, ...path.split('/'));
}
