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

/** An objection to a call, with the file concerned. */
export interface FileFinding extends Finding {
  /** The path in the workspace and its use. Absent if the finding concerns no single file. */
  readonly file?: { readonly key: string; readonly use: FileUse };
}

/** A file or folder that a call uses. */
export interface UsedPlace {
  readonly use: FileUse;
  readonly place: Place;
  /** The path in the form that patterns match. */
  readonly key: string;
}

/** Reasons of `policy.refused`. */
type RefusalReason = 'secret_files' | 'read_only_files' | 'path_scope';

export interface GuardedFilesOptions {
  readonly name: string;
  /** Judges each place that a call uses. */
  readonly judge: (used: UsedPlace, view: PlaceView) => FileFinding | undefined;
  /** Judges the call as a whole. */
  readonly judgeCall?: (facts: CallFacts, tool: Tool) => readonly Finding[];
  /** Why a file of the resource `filesystem` must not be used, whatever the facts say. */
  readonly refuse: (key: string, use: FileUse) => string | undefined;
  /** The finer kind of that failure, `policy.refused`. */
  readonly reason: RefusalReason;
}

/**
 * Guards files: by a call's facts before it runs, and by the files of the resource `filesystem` that it touched before its commit. Keeps
 * no state.
 */
export function guardedFiles({ name, judge, judgeCall, refuse, reason }: GuardedFilesOptions): Policy<undefined> {
  // Uses that were denied but approved by a person. They live as long as the call, so they are not state.
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
        const why = refuse(key, use);
        if (why === undefined || wasLetThrough(overruled.get(call) ?? [], key, use)) continue;
        const message = `${quote(call.tool.name)}: ${why}`;
        throw new HoldfastError('policy.refused', message, { data: { reason, tool: call.tool.name, path: key } });
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

/** Approval to read a file does not cover writing it; approval to write covers reading. */
function wasLetThrough(found: readonly FileFinding[], key: string, use: FileUse): boolean {
  return found.some(({ file }) => file?.key === key && (use === 'read' || file.use !== 'read'));
}
