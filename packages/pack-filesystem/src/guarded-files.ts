import {
  type CallFacts,
  definePolicy,
  HoldfastError,
  type Place,
  type PlaceView,
  type Policy,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { decide, denyWithoutFacts, type Finding, keyOf, quote } from '@holdfast/facts/rules';

export type FileUse = 'read' | 'written' | 'deleted';

/** What speaks against a call, with the file that it is about. */
export interface FileFinding extends Finding {
  /** The path in the workspace, and what happens to it. Absent: it is about no one file. */
  readonly file?: { readonly key: string; readonly use: FileUse };
}

/** A file or folder of a call. */
export interface UsedPlace {
  readonly use: FileUse;
  readonly place: Place;
  /** As patterns have it. */
  readonly key: string;
}

export interface GuardedFilesOptions {
  readonly name: string;
  /** Of each place that a call uses. */
  readonly judge: (used: UsedPlace, view: PlaceView) => FileFinding | undefined;
  /** Of the call as a whole. */
  readonly judgeCall?: (facts: CallFacts, tool: Tool) => readonly Finding[];
  /** Why a file of the resource `filesystem` must not have been used, whatever the facts said. */
  readonly refuse: (key: string, use: FileUse) => string | undefined;
  /** The code of that failure. */
  readonly code: string;
}

/**
 * Keeps calls off some files: by their facts before they run, by what they touched of the resource `filesystem` before their success is
 * committed. Keeps no state.
 */
export function guardedFiles({ name, judge, judgeCall, refuse, code }: GuardedFilesOptions): Policy<undefined> {
  // What a call did although it was refused, as a person let it. Only for as long as the call lives, so it is no state.
  const overruled = new WeakMap<PreparedCall, readonly FileFinding[]>();
  return definePolicy({
    name,
    check(call, { place: view }) {
      const { facts, tool } = call;
      overruled.delete(call);
      if (facts === undefined || view === undefined) return denyWithoutFacts(name);
      const found = listUses(facts, view).flatMap((used) => judge(used, view) ?? []);
      if (found.length > 0) overruled.set(call, found);
      return decide([...found, ...(judgeCall?.(facts, tool) ?? [])]);
    },
    onResult(call, { touched }) {
      const { reads = [], writes = [] } = touched.get('filesystem') ?? {};
      const used = [
        ...reads.map(({ key }) => ({ key, use: 'read' as const })),
        ...writes.map(({ key }) => ({ key, use: 'written' as const })),
      ];
      for (const { key, use } of used) {
        const reason = refuse(key, use);
        if (reason === undefined || wasLetThrough(overruled.get(call) ?? [], key, use)) continue;
        const message = `${quote(call.tool.name)}: ${reason}`;
        throw new HoldfastError(code, message, { data: { tool: call.tool.name, path: key } });
      }
    },
  });
}

function listUses(facts: CallFacts, { workspace }: PlaceView): readonly UsedPlace[] {
  const uses = [
    ['read', facts.reads],
    ['written', facts.writes],
    ['deleted', facts.deletes],
  ] as const;
  return uses.flatMap(([use, places]) => places.map((place) => ({ use, place, key: keyOf(place.path, workspace) })));
}

/** A yes to reading a file is none to writing it. Who may write it may read it. */
function wasLetThrough(found: readonly FileFinding[], key: string, use: FileUse): boolean {
  return found.some(({ file }) => file?.key === key && (use === 'read' || file.use !== 'read'));
}
