import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { parse } from 'jsonc-parser';
import { configFolder, homeFolder } from '../guard/place.ts';
import type { GuardHost } from '../user/guard-folder.ts';
import { packageName } from './make.ts';

/** The file by which a person's agent has our plugin, beside any hooks in its settings; `undefined`: it has none. */
export function findPlugin(agent: string, host: GuardHost): string | undefined {
  const home = homeFolder(host);
  switch (agent) {
    case 'claude-code': {
      const path = join(home, '.claude', 'settings.json');
      const { enabledPlugins } = objectIn(path);
      const named = isPlainObject(enabledPlugins) ? Object.entries(enabledPlugins) : [];
      return named.some(([name, on]) => name.startsWith('holdfast@') && on === true) ? path : undefined;
    }
    case 'codex': {
      const path = join(home, '.codex/config.toml');
      const [, table] = /^\[plugins\."holdfast@[^"\n]+"\]\n((?:(?!\[).*\n?)*)/m.exec(textIn(path)) ?? [];
      return table === undefined || /^enabled\s*=\s*false/m.test(table) ? undefined : path;
    }
    case 'gemini': {
      const path = join(home, '.gemini', 'extensions', 'holdfast');
      return existsSync(path) ? path : undefined;
    }
    case 'opencode': {
      const folder = join(configFolder(host), 'opencode');
      const files = ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name));
      return files.find((path) => hasPackage(agent, objectIn(path)['plugin'], path));
    }
    case 'pi': {
      const path = join(home, '.pi', 'agent', 'settings.json');
      return hasPackage(agent, objectIn(path)['packages'], path) ? path : undefined;
    }
    default:
      return undefined;
  }
}

/** True if a list of packages, by name or by folder, has ours. */
function hasPackage(agent: string, packages: unknown, settings: string): boolean {
  if (!Array.isArray(packages)) return false;
  return packages.some((entry: unknown) => {
    const [given] = Array.isArray(entry) ? entry : [entry];
    const source: unknown = isPlainObject(given) ? given['source'] : given;
    if (typeof source !== 'string') return false;
    if (source.replace(/^npm:/, '').replace(/(?<=.)@.*$/, '') === packageName(agent)) return true;
    const path = toPath(source);
    if (path === undefined) return false;
    const folder = isAbsolute(path) ? path : join(dirname(settings), path);
    return objectIn(join(folder, 'package.json'))['name'] === packageName(agent);
  });
}

/** `undefined`: a URL of no file of this machine, such as `file://elsewhere/a`. */
function toPath(source: string): string | undefined {
  if (!source.startsWith('file:')) return source;
  try {
    return fileURLToPath(source);
  } catch {
    return undefined;
  }
}

function objectIn(path: string): Readonly<Record<string, unknown>> {
  const text = textIn(path);
  const parsed = parseJson(text);
  // opencode's settings may have comments.
  const value: unknown = parsed.ok ? parsed.value : path.includes('opencode') ? parse(text) : undefined;
  return isPlainObject(value) ? value : {};
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // No file that can be read: no plugin that the agent can load.
    return '';
  }
}
