import { relative } from 'node:path';
import { allow, definePolicy, deny, type KeyedState, type Policy, upsert } from '@holdfast/core';
import { sha256 } from '@holdfast/core/internal';
import type { Disk } from '@holdfast/core/types';

/** Versions of longer files are not told apart. */
const longest = 1_048_576;

/**
 * Denies that a call overwrites a file whose current version the session has neither read nor written. Judges by facts: other policies
 * answer calls whose effect is unclear.
 *
 * State: by absolute path, the version last seen.
 */
export function readFirst(): Policy<KeyedState<string>> {
  return definePolicy<string>({
    name: 'read-first',
    stateKind: 'keyed',
    check({ facts }, { place, state }) {
      if (facts === undefined || facts.unclear.length > 0) return allow;
      const readByItself = new Set(facts.reads.map(({ path }) => path));
      for (const { path, inside, recursive } of facts.writes) {
        const now = recursive === undefined ? findVersion(path, place?.disk) : undefined;
        const seen = state.get(path);
        if (now === undefined || now === seen || readByItself.has(path)) continue;
        const shown = inside && place !== undefined ? relative(place.workspace, path) : path;
        return deny(
          seen === undefined
            ? `\`${shown}\` exists already: read it before you overwrite it.`
            : `\`${shown}\` has changed since you read it: read it again before you overwrite it.`,
        );
      }
      return allow;
    },
    onResult({ facts }, _result, { place }) {
      const places = [...(facts?.reads ?? []), ...(facts?.writes ?? [])];
      return places.flatMap(({ path }) => {
        const version = findVersion(path, place?.disk);
        return version === undefined ? [] : [upsert(path, version)];
      });
    },
  });
}

/** `undefined`: there is no such file. */
function findVersion(path: string, disk: Disk | undefined): string | undefined {
  if (disk?.look(path).type !== 'file') return undefined;
  const text = disk.readText(path, longest);
  return text === undefined ? 'unknown' : sha256(text);
}
