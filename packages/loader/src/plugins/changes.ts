import type { Json, JsonObject } from '@holdfast/core';
import { compareMembers } from '../pins/changes.ts';
import { type LockedDefinitions, sourceKeys } from '../pins/locked-definitions.ts';
import { makeVisible } from '../text/hidden-text.ts';

/** One difference between a plugin or pack and its lock entry. `null`: absent. */
export interface DefinitionChange {
  /** Kind and name of the definition, `tool:push`; empty for the plugin's own origin. */
  readonly definition: string;
  /**
   * The changed field, e.g. `description`; empty if the whole definition is new or gone. For the plugin itself
   * `version`, `package`, `packageVersion` or `digest`.
   */
  readonly field: string;
  readonly before: Json;
  readonly after: Json;
}

/** The differences between the lock entry and `current`; empty if none. */
export function findDefinitionChanges(
  locked: LockedDefinitions | undefined,
  current: LockedDefinitions,
): readonly DefinitionChange[] {
  const [before, after] = [locked?.definitions ?? new Map<string, JsonObject>(), current.definitions];
  const source = compareFields('', locked === undefined ? {} : sourceOf(locked), sourceOf(current));
  const definitions = compareMembers(before, after).flatMap(({ name, ...change }): readonly DefinitionChange[] => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was !== undefined && is !== undefined) return compareFields(name, was, is);
    return [{ definition: name, field: '', ...change }];
  });
  return [...source, ...definitions];
}

function sourceOf(locked: LockedDefinitions): JsonObject {
  return Object.fromEntries(
    sourceKeys.flatMap((key) => {
      const text = locked[key];
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

function compareFields(definition: string, before: JsonObject, after: JsonObject): readonly DefinitionChange[] {
  const fields = compareMembers(new Map(Object.entries(before)), new Map(Object.entries(after)));
  return fields.map(({ name: field, ...change }) => ({ definition, field, ...change }));
}

/** Reasons of `lock.changed` for plugins and packs. A plugin that differs has none. */
export type LockReason = 'new' | 'pack' | 'pack_new';

/** The reason of a plugin or pack that differs from the lock. */
export function lockReason(kind: 'plugin' | 'pack', state: 'new' | 'changed'): LockReason | undefined {
  if (kind === 'pack') return state === 'new' ? 'pack_new' : 'pack';
  return state === 'new' ? 'new' : undefined;
}

const mostTold = 5;

/** Describes the changes for a message: `its file, version 1.0.0 -> 1.1.0; tool:push: dangerous, effects; tool:pull (new)`. */
export function describeDefinitionChanges(changes: readonly DefinitionChange[]): string {
  const byDefinition = new Map<string, DefinitionChange[]>();
  for (const change of changes) {
    const others = byDefinition.get(change.definition) ?? [];
    byDefinition.set(change.definition, [...others, change]);
  }
  const told = [...byDefinition].map(([definition, list]) => describeOne(definition, list));
  const more = told.length > mostTold ? [`${told.length - mostTold} more`] : [];
  return [...told.slice(0, mostTold), ...more].join('; ');
}

function describeOne(definition: string, changes: readonly DefinitionChange[]): string {
  const name = makeVisible(definition).slice(0, 100);
  if (definition !== '') {
    const [first] = changes;
    if (first?.field === '') return `${name} ${first.before === null ? '(new)' : '(gone)'}`;
    const fields = changes.map(({ field }) => makeVisible(field).slice(0, 50)).join(', ');
    return `${name}: ${fields.length > 200 ? `${fields.slice(0, 200)}…` : fields}`;
  }
  return changes
    .map(({ field, before, after }) => {
      if (field === 'digest') return 'its file';
      return `${field} ${toShown(before, 'none')} -> ${toShown(after, 'none')}`;
    })
    .join(', ');
}

function toShown(value: Json, absent: string): string {
  return typeof value === 'string' ? makeVisible(value).slice(0, 100) : absent;
}
