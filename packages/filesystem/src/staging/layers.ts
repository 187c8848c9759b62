import { joinKey } from '../paths/paths.ts';
import type { BackendEntry } from './backend.ts';
import { isDirectory, isMissing, isNotDirectory } from './errors.ts';
import { directoryStat, type Source } from './reader.ts';
import type { OpenStaging } from './staging.ts';

/** Overlays staged changes on `below`. Reading it leaves no trace. */
export function layOver(below: Source, staging: OpenStaging): Source {
  const { nodes } = staging;

  /** Finds the staged spelling of a name, which `below` does not know. */
  async function toStagedSpelling(key: string): Promise<string> {
    let spelled = '';
    for (const name of key.split('/')) {
      const folder = spelled;
      spelled = joinKey(folder, name);
      const other = staging.otherSpelling(spelled);
      if (other !== undefined && (await below.folds(folder))) spelled = other;
    }
    return spelled;
  }

  return {
    async locate(path) {
      const { key, link } = await below.locate(path);
      return { key: nodes.size === 0 ? key : await toStagedSpelling(key), link };
    },
    folds: below.folds,
    async typeOf(key) {
      const node = nodes.get(key);
      if (node === undefined) return below.typeOf(key);
      return node.type === 'removed' ? undefined : node.type;
    },
    async stat(key) {
      const node = nodes.get(key);
      switch (node?.type) {
        case undefined:
          return below.stat(key);
        case 'file':
          return { type: 'file', size: node.bytes.length, version: node.version };
        case 'directory':
          return directoryStat;
        case 'removed':
          return undefined;
        default:
          return node satisfies never;
      }
    },
    async read(key) {
      const node = nodes.get(key);
      switch (node?.type) {
        case undefined:
          return below.read(key);
        case 'file':
          return node.bytes;
        case 'directory':
          throw isDirectory(key);
        case 'removed':
          throw isMissing(key);
        default:
          return node satisfies never;
      }
    },
    async list(key) {
      const node = nodes.get(key);
      if (node?.type === 'removed') throw isMissing(key);
      if (node?.type === 'file') throw isNotDirectory(key);
      const isBelow = node === undefined || (await below.typeOf(key)) === 'directory';
      const entries = new Map<string, BackendEntry>();
      for (const entry of isBelow ? await below.list(key) : []) {
        const gone = entry.target !== undefined && nodes.get(entry.target)?.type === 'removed';
        if (!gone) entries.set(entry.name.normalize('NFC'), entry);
      }
      for (const name of staging.namesIn(key)) {
        const child = nodes.get(joinKey(key, name));
        if (child?.type === 'removed') entries.delete(name);
        else if (child !== undefined) entries.set(name, { name, type: child.type });
      }
      return [...entries.values()];
    },
  };
}
