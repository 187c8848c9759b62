import { dirname, join } from 'node:path/posix';
import { isTest, type Member, type Repository } from './repository.ts';

const maxFiles = 25;

/** The path of a call, readable without any other room. */
const callRoom = 'packages/executor/src/call';
const maxCallFiles = 10;

/** Folders with too many sources, not counting tests. */
export function findFullRooms({ members }: Repository): string[] {
  return members.filter(isHouse).flatMap((member) => {
    const counts = new Map<string, number>();
    for (const { path } of member.sources) {
      if (isSource(member, path)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
    return [...counts].flatMap(([folder, count]) => {
      const limit = folder === callRoom ? maxCallFiles : maxFiles;
      return count > limit ? [`${folder}: has ${count} files, split it by topic into folders of at most ${limit}`] : [];
    });
  });
}

/** Imports of the call path's room from other rooms: rare features are passed in. */
export function findCallRoomProblems({ members }: Repository): string[] {
  return members.flatMap((member) =>
    member.sources
      .filter(({ path }) => dirname(path) === callRoom && isSource(member, path))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => name.startsWith('../'))
          .map((name) => `${path}: imports \`${name}\`; pass rare features through \`CallFeatures\``),
      ),
  );
}

/** Folders in `src` that import each other, directly or indirectly, including type-only imports. */
export function findRoomCircles({ members }: Repository): string[] {
  return members.filter(isHouse).flatMap((member) => {
    const arrows = findArrows(member);
    const circles = new Map<string, string>();
    for (const room of arrows.keys()) {
      const path = findWayBack(room, arrows);
      // Each room of a circle finds it again.
      const rooms = path?.toSorted().join();
      if (path !== undefined && rooms !== undefined && !circles.has(rooms))
        circles.set(rooms, `${path.join(' -> ')} -> ${room}`);
    }
    return [...circles.values()].map((circle) => `${member.folder}/src: its rooms import each other: ${circle}`);
  });
}

function isHouse({ folder }: Member): boolean {
  return folder.startsWith('packages/') || folder.startsWith('apps/');
}

function isSource({ folder }: Member, path: string): boolean {
  return path.startsWith(`${folder}/src/`) && !isTest(path) && !path.endsWith('.long.ts');
}

/** Imports between folders; `src` itself is `.`. */
function findArrows(member: Member): ReadonlyMap<string, ReadonlySet<string>> {
  const root = `${member.folder}/src`;
  const toRoom = (path: string): string => dirname(path).slice(root.length + 1) || '.';
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of member.sources) {
    if (!isSource(member, path)) continue;
    const from = toRoom(path);
    const to = arrows.get(from) ?? new Set<string>();
    arrows.set(from, to);
    for (const imported of imports.filter((name) => name.startsWith('.'))) {
      const target = join(dirname(path), imported);
      if (target.startsWith(`${root}/`) && toRoom(target) !== from) to.add(toRoom(target));
    }
  }
  return arrows;
}

/** The rooms of the shortest circle through `room`. */
function findWayBack(room: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const ways: (readonly string[])[] = [[room]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of arrows.get(way.at(-1) ?? room) ?? []) {
      if (next === room) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
}
